import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, phaseOf, type Rig } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'places', ...more, phases });
const pwd = (id: string, cwd: string | undefined, run = 'pwd') => ({ id, type: 'script', run, ...(cwd && { cwd }) });

const realGit = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

function repository(): void {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@e.org', ...args], { cwd: rig.root, stdio: 'pipe' });
  rig.write('.gitignore', '.pi/taskflows/runs\n.pi/taskflows/cache\n');
  rig.write('committed.txt', 'as committed\n');
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'one');
}

describe('cwd', () => {
  it('is the project root, or a folder inside it; placeholders work', async () => {
    rig.write('sub/deep/x', '');
    const result = await rig.run(
      flow([pwd('root', undefined), pwd('sub', 'sub'), pwd('named', '{args.where}/deep')], {
        args: { where: { default: 'sub' } },
      }),
    );
    expect(result.phases.map(({ output }) => output)).toEqual([rig.root, `${rig.root}/sub`, `${rig.root}/sub/deep`]);
  });

  it.each([
    ['a folder outside', '../..'],
    ['a link that leads out', 'link'],
    ['a file', 'file'],
    ['nothing', 'missing'],
  ])('%s is refused before anything runs there, also when it is known only then', async (_what, where) => {
    symlinkSync('/tmp', join(rig.root, 'link'));
    rig.write('file', '');
    const result = await rig.run(
      flow([pwd('a', '{args.where}', 'bin/tick a')], { args: { where: { default: where } } }),
    );
    expect(result.error).toMatchObject({ phase: 'a', code: 'bad-input' });
    expect(rig.counts()).toEqual({});
  });

  it('temp is fresh for each, and gone afterwards, also after a failure', async () => {
    const result = await rig.run(
      flow(
        [pwd('a', 'temp', 'touch here; pwd'), pwd('b', 'temp', 'ls; pwd'), pwd('bad', 'temp', 'pwd; exit 1')].map(
          (phase, n) => (n === 2 ? { ...phase, optional: true } : phase),
        ),
      ),
    );
    const [a, b] = result.phases.map(({ output }) => output) as [string, string];
    expect(a).not.toBe(b);
    expect(a.startsWith(rig.root)).toBe(false);
    expect(existsSync(a)).toBe(false);
    expect(existsSync(b)).toBe(false);
  });

  it('dedicated is one per run and phase, and kept', async () => {
    const phases = [
      pwd('a', 'dedicated', 'echo x >> notes; pwd'),
      { id: 'm', type: 'map', over: [1, 2], cwd: 'dedicated', run: ['pwd'] },
    ];
    const result = await rig.run(flow(phases));
    const folder = phaseOf(result, 'a').output;
    expect(folder).toContain(result.runId);
    expect(readFileSync(join(folder, 'notes'), 'utf8')).toBe('x\n');
    expect(new Set(phaseOf(result, 'm').json as string[]).size).toBe(2);
  });

  it('worktree is HEAD in a folder of its own: removed if nothing changed, else kept and named', async () => {
    repository();
    rig.write('committed.txt', 'edited since\n');
    const result = await rig.run(
      flow([pwd('look', 'worktree', 'cat committed.txt; pwd'), pwd('edit', 'worktree', 'echo new > made.txt; pwd')]),
    );
    expect(result.status).toBe('success');
    const [said, where] = phaseOf(result, 'look').output.split('\n') as [string, string];
    expect(said).toBe('as committed');
    expect(existsSync(where)).toBe(false);
    const kept = phaseOf(result, 'edit');
    expect(kept.remark).toContain(kept.output);
    expect(readFileSync(join(kept.output, 'made.txt'), 'utf8')).toBe('new\n');
    const listed = execFileSync('git', ['worktree', 'list'], { cwd: rig.root, encoding: 'utf8' });
    expect(listed.trim().split('\n')).toHaveLength(2);
    execFileSync('rm', ['-rf', dirname(kept.output)]);
  });

  it('a worktree is made without the hooks of the repository, and kept although git hides new files', async () => {
    repository();
    rig.write('.git/hooks/post-checkout', `#!/bin/sh\necho > '${rig.root}/.pi/hooked'\n`, 0o755);
    execFileSync('git', ['config', 'status.showUntrackedFiles', 'no'], { cwd: rig.root });
    const result = await rig.run(flow([pwd('edit', 'worktree', 'echo new > made.txt; pwd')]));
    expect(existsSync(join(rig.root, '.pi/hooked'))).toBe(false);
    const { output } = phaseOf(result, 'edit');
    expect(readFileSync(join(output, 'made.txt'), 'utf8')).toBe('new\n');
    execFileSync('rm', ['-rf', dirname(output)]);
  });

  it('worktrees are made and removed one at a time, and again if another process was in the way', async () => {
    repository();
    rig.write(
      'bin/git',
      `#!/bin/sh
case "$*" in
  *"worktree add"*) [ -e ../failed-once ] || { echo > ../failed-once
    echo "fatal: failed to read .git/worktrees/tree/commondir: Success" >&2; exit 128; };;
esac
case "$*" in
  *worktree*)
    echo begin >> ../worktrees.log; sleep 0.01
    ${realGit} "$@"; code=$?
    echo end >> ../worktrees.log; exit $code;;
esac
exec ${realGit} "$@"
`.replaceAll('../', `${rig.root}/.pi/`),
      0o755,
    );
    Object.assign(rig.project.env, { PATH: `${rig.root}/bin:${process.env['PATH']}` });
    const over = [1, 2, 3, 4, 5, 6];
    const result = await rig.run(
      flow([{ id: 'each', type: 'map', over, cwd: 'worktree', run: ['cat', 'committed.txt'] }]),
    );
    expect(phaseOf(result, 'each').json).toEqual(over.map(() => 'as committed'));
    const log = readFileSync(join(rig.root, '.pi/worktrees.log'), 'utf8').trimEnd().split('\n');
    expect(log).toEqual(Array.from({ length: 12 }, () => ['begin', 'end']).flat());
  });

  it('worktree outside of a repository says what it needs', async () => {
    const result = await rig.run(flow([pwd('a', 'worktree')]));
    expect(result.error?.hint).toMatch(/git repository/);
  });

  it('an agent works there, too, and its program is found from the project root', async () => {
    rig.write('sub/x', '');
    rig.write('bin/agent', '#!/bin/sh\ncat > /dev/null\npwd\n', 0o755);
    const result = await rig.run(flow([{ id: 'a', type: 'agent', task: 'x', cwd: 'sub' }]));
    expect(result.output).toBe(`${rig.root}/sub`);
  });
});

describe('context', () => {
  const agent = (context: string[], more: object = {}) => ({
    id: 'a',
    type: 'agent',
    task: 'What is in it?',
    context,
    ...more,
  });

  it('files, globs and outputs are put before the task, each shortened to its limit', async () => {
    rig.write('docs/one.md', `${'x'.repeat(50)}END`);
    rig.write('docs/two.md', 'short');
    const result = await rig.run(
      flow([
        { id: 's', type: 'script', run: ['echo', 'from a step'] },
        agent(['docs/*.md', '{steps.s.output}'], { contextLimit: 20 }),
      ]),
    );
    expect(result.output).toContain(`${'x'.repeat(20)}\n… (33 more characters)`);
    expect(result.output).toContain('short');
    expect(result.output).toContain('from a step');
    expect(result.output).not.toContain('END');
    expect(result.output.indexOf('one.md')).toBeLessThan(result.output.indexOf('What is in it?'));
  });

  it('a list of files that a phase has chosen means the files, and any other list is what it says', async () => {
    rig.write('docs/one.md', 'first file');
    rig.write('docs/two.md', 'second file');
    const chosen = (list: string[]) => ({
      id: 's',
      type: 'script',
      run: ['echo', JSON.stringify(list)],
      output: 'json',
    });
    const files = await rig.run(flow([chosen(['docs/one.md', './docs/two.md']), agent(['{steps.s.json}'])]));
    expect(files.output).toContain('<file path="docs/one.md">\nfirst file');
    expect(files.output).toContain('<file path="docs/two.md">\nsecond file');
    for (const list of [['docs/one.md', 'some words'], ['../outside.md'], ['/etc/passwd']]) {
      const text = await rig.run(flow([chosen(list), agent(['{steps.s.json}'])]));
      expect(text.output).toContain(`<file path="steps.s.json">\n${JSON.stringify(list)}`);
    }
    rig.write('docs/one.md', 'another');
    const again = await rig.run(flow([chosen(['docs/one.md']), agent(['{steps.s.json}'])]));
    expect(again.output).toContain('another');
  });

  it('a change beyond the limit is a change', async () => {
    rig.write('long.md', `${'x'.repeat(100)}1`);
    const phases = [
      agent(['long.md'], { contextLimit: 10 }),
      { id: 'end', type: 'script', run: 'exit 1', dependsOn: ['a'] },
    ];
    await rig.run(flow(phases));
    await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ agent: 1 });
    rig.write('long.md', `${'x'.repeat(100)}2`);
    await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ agent: 2 });
  });

  it.each([
    ['missing.md', /cannot be read: there is no such file$/],
    ['docs', /folder/],
    ['leak.md', /leaves the project/],
    ['../outside.md', /leaves the project/],
  ])('%s fails the phase, and no agent is asked', async (entry, message) => {
    mkdirSync(join(rig.root, 'docs'));
    writeFileSync(join(rig.root, '../outside.md'), 'secret');
    symlinkSync('../outside.md', join(rig.root, 'leak.md'));
    const result = await rig.run(flow([agent(['{args.entry}'])], { args: { entry: { default: entry } } }));
    expect(result.error?.message).toMatch(message);
    expect(rig.counts()).toEqual({});
  });
});

describe('a generated flow', () => {
  const generated = (
    def: unknown,
    more: object[] = [],
    kind: object = { type: 'flow', def: '{steps.plan.output}' },
  ) => {
    rig.write('made.json', JSON.stringify(def));
    return flow([{ id: 'plan', type: 'script', run: ['cat', 'made.json'] }, { id: 'f', ...kind }, ...more]);
  };
  const task = (id: string, more: object = {}) => ({ id, type: 'agent', task: `NAME: ${id}\nSAY: ${id}`, ...more });

  it.each([
    ['a script', [{ id: 'x', type: 'script', run: ['touch', 'pwned'] }]],
    ['a run body in a map', [{ id: 'x', type: 'map', over: [1], run: ['touch', 'pwned'] }]],
    ['a run body in a branch', [{ id: 'x', type: 'parallel', branches: [{ run: 'touch pwned' }, { task: 'y' }] }]],
    ['a run body in a race', [{ id: 'x', type: 'race', branches: [{ run: 'touch pwned' }, { task: 'y' }] }]],
    ['a cmd: fingerprint', [task('x', { cache: { scope: 'cross-run', fingerprint: ['cmd:touch pwned'] } })]],
    ['a runner', [task('x', { runner: 'rig' })]],
    ['a runner for all', { name: 'y', runner: 'rig', phases: [task('x')] }],
    ['a cwd outside', [task('x', { cwd: '../..' })]],
    ['a context outside', [task('x', { context: ['../../etc/passwd'] })]],
    ['an absolute context', [task('x', { context: ['/etc/passwd'] })]],
    ['101 phases', Array.from({ length: 101 }, (_, n) => task(`x${n}`))],
    ['201 items', [{ id: 'x', type: 'map', over: Array.from({ length: 201 }, (_, n) => n), task: '{item}' }]],
    [
      'a script in an inner definition',
      [{ id: 'x', type: 'flow', def: { phases: [{ id: 'y', type: 'script', run: 'touch pwned' }] } }],
    ],
  ])('may not have %s', async (_what, def) => {
    const result = await rig.run(generated(def));
    expect(result.status).toBe('failed');
    expect(result.error?.phase).toBe('f');
    expect(['bad-flow', 'limit', 'nested', 'items']).toContain(result.error?.code);
    expect(rig.counts()).toEqual({});
    expect(existsSync(join(rig.root, 'pwned'))).toBe(false);
  });

  it('may not reach a command through a link in `context` or `cwd`, nor through a placeholder', async () => {
    symlinkSync('/etc', join(rig.root, 'out'));
    for (const more of [
      { context: ['out/passwd'] },
      { cwd: 'out' },
      { cwd: '{args.up}' },
      { context: ['{args.up}/x'] },
    ]) {
      const result = await rig.run(generated({ args: { up: { default: '../..' } }, phases: [task('x', more)] }));
      expect(result.status).toBe('failed');
    }
    expect(rig.counts()).toEqual({});
  });

  it('may have 100 phases and 200 items', async () => {
    const phases = Array.from({ length: 98 }, (_, n) => task(`x${n}`, { when: '1 == 2' }));
    const result = await rig.run(
      generated([
        ...phases,
        { id: 'm', type: 'map', over: Array.from({ length: 200 }, (_, n) => n), task: 'SAY: {item}', when: '1 == 2' },
        task('last'),
      ]),
    );
    expect(result).toMatchObject({ status: 'success', output: 'last' });
  });

  it('maps over at most 200 items that are known only later', async () => {
    rig.write('many.json', JSON.stringify(Array.from({ length: 201 }, (_, n) => n)));
    const items = {
      id: 'many',
      type: 'agent',
      task: `SAY: ${JSON.stringify(Array.from({ length: 201 }, (_, n) => n))}`,
      output: 'json',
    };
    const result = await rig.run(
      generated([items, { id: 'm', type: 'map', over: '{steps.many.json}', task: '{item}' }]),
    );
    expect(result.status).toBe('failed');
    expect(rig.executions()).toHaveLength(1);
  });

  it('goes five levels deep and no further', async () => {
    const nested = (levels: number): object[] =>
      levels === 0 ? [task('deep')] : [{ id: `l${levels}`, type: 'flow', def: { phases: nested(levels - 1) } }];
    expect((await rig.run(generated(nested(4)))).status).toBe('success');
    const tooDeep = await rig.run(generated(nested(5)));
    expect(tooDeep.status).toBe('failed');
    expect(rig.counts()).toEqual({ deep: 1 });
  });

  it('that makes itself again and again comes to an end', async () => {
    // An agent that answers with a flow whose only phase asks it again and runs what it says.
    const again = JSON.stringify([
      { id: 'ask', type: 'agent', task: 'again' },
      { id: 'go', type: 'flow', def: '{steps.ask.output}' },
    ]);
    rig.write('bin/agent', `#!/bin/sh\ncat > /dev/null\nbin/tick asked > /dev/null\nprintf '%s' '${again}'\n`, 0o755);
    const result = await rig.run(
      flow([
        { id: 'ask', type: 'agent', task: 'again' },
        { id: 'f', type: 'flow', def: '{steps.ask.output}' },
      ]),
    );
    expect(result.status).toBe('failed');
    expect(rig.executions().length).toBeLessThanOrEqual(6);
  });

  it('is held to maxNodes by expand, and grafted it sees the phases around it', async () => {
    const graft = { type: 'expand', def: '{steps.plan.output}', expandMode: 'graft', dependsOn: ['plan', 'other'] };
    const def = [{ id: 'x', type: 'agent', task: 'SAY: saw {steps.other.output}' }];
    const result = await rig.run(
      generated(
        def,
        [{ id: 'other', type: 'script', run: ['echo', 'the other'] }, task('z', { task: 'SAY: {steps.f.output}!' })],
        graft,
      ),
    );
    expect(result.output).toBe('saw the other!');
    const small = await rig.run(
      generated([task('a'), task('b')], [], { type: 'expand', def: '{steps.plan.output}', maxNodes: 1 }),
    );
    expect(small.status).toBe('failed');
  });

  it('a bad one fails with what is wrong and where in the generated text', async () => {
    const result = await rig.run(generated([{ id: 'x', type: 'agent', tsk: 'typo' }]));
    expect(result.error?.code).toBe('bad-flow');
    expect(`${result.error?.message}\n${result.error?.detail}`).toMatch(/tsk/);
    expect(result.error?.detail).toMatch(/:\d+:\d+ /);
    expect(readdirSync(rig.root)).toContain('made.json');
  });
});
