import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../src/util/digest.js';
import { createTestProject, type TestProject } from '../support/cli.js';

let project: TestProject;
beforeEach(() => {
  project = createTestProject();
  const phases = [
    {
      id: 'a',
      type: 'script',
      run: 'echo ran >> count; echo one',
      // How often it ran is counted in a file that is no part of what it does.
      cache: { scope: 'cross-run', fingerprint: ['file:in.txt'], observe: { exclude: ['count'] } },
    },
    { id: 'b', type: 'script', run: ['cat'], input: '{steps.a.output} two' },
  ];
  project.write('in.txt', '1');
  project.write('flow.json', JSON.stringify({ name: 'demo', phases }));
});
afterEach(() => project.remove());

const json = async (...args: string[]) => JSON.parse((await project.run([...args, '--json'])).stdout);
const executions = () =>
  existsSync(join(project.root, 'count'))
    ? readFileSync(join(project.root, 'count'), 'utf8').split('\n').length - 1
    : 0;

describe('taskflow runs', () => {
  it('lists runs with the newest first, shows one and clears successful ones only', async () => {
    await project.run(['run', './flow.json', '-q']);
    project.write('bad.json', '{"name": "bad", "phases": [{"id": "x", "type": "script", "run": ["false"]}]}');
    await project.run(['run', './bad.json', '-q']);
    const listed = await json('runs');
    expect(listed.map(({ flow, state }: Record<string, string>) => [flow, state])).toEqual([
      ['bad', 'failed'],
      ['demo', 'success'],
    ]);
    expect((await json('runs', '--state', 'failed')).length).toBe(1);
    expect((await json('runs', '--flow', 'demo')).length).toBe(1);
    const shown = await json('runs', 'show', listed[1].runId);
    expect(shown.phases.map(({ id, status }: Record<string, string>) => [id, status])).toEqual([
      ['a', 'done'],
      ['b', 'done'],
    ]);
    expect((await project.run(['runs', 'show', listed[1].runId.slice(-6)])).stdout).toContain('✔ b');
    expect((await json('runs', 'clear', '--dry-run')).runs).toBe(1);
    expect((await json('runs', 'clear')).runs).toBe(1);
    expect((await json('runs')).map(({ flow }: { flow: string }) => flow)).toEqual(['bad']);
    expect((await json('runs', 'clear', '--all')).runs).toBe(1);
    expect((await project.run(['runs', 'show', 'last'])).status).toBe(2);
  });

  it('takes any part of an id that only one run has, and says of each phase what its run said', async () => {
    const phase = { id: 'm', type: 'map', over: 'a\nb', run: ['echo', '{item}'] };
    project.write('flow.json', JSON.stringify({ name: 'demo', phases: [phase] }));
    const said = await project.run(['run', './flow.json']);
    const remark = 'over: took one item per line';
    expect(said.stderr).toContain(remark);
    const [{ runId }] = JSON.parse((await project.run(['runs', '--json'])).stdout);
    for (const part of [runId.slice(0, 15), runId.slice(9, 15), runId.slice(11, 18), runId.slice(-6)]) {
      const { status, stdout } = await project.run(['runs', 'show', part]);
      expect([part, status]).toEqual([part, 0]);
      expect(stdout).toContain(remark);
    }
    expect((await project.run(['runs', 'logs', 'last'])).stdout).toContain(remark);
  });

  it('refuses run ids that are no run ids', async () => {
    await project.run(['run', './flow.json', '-q']);
    for (const id of ['../x', 'nope', '20200101-000000-abcdef']) {
      for (const command of [['runs', 'show'], ['trace'], ['resume'], ['checkpoint', 'export']]) {
        expect((await project.run([...command, id])).status).toBe(2);
      }
    }
  });
});

describe('taskflow resume', () => {
  it.each(['absolute', 'relative'])('goes on with a flow outside of the project: %s path', async (how) => {
    const outside = createTestProject();
    try {
      outside.write(
        'my flow.json',
        JSON.stringify({ name: 'away', phases: [{ id: 'a', type: 'script', run: 'cat ok' }] }),
      );
      const absolute = join(outside.root, 'my flow.json');
      const typed = how === 'absolute' ? absolute : relative(project.root, absolute);
      expect((await project.run(['run', typed, '-q'])).status).toBe(1);
      project.write('ok', 'fine\n');
      const resumed = await project.run(['resume', 'last']);
      expect(resumed).toMatchObject({ status: 0, stdout: 'fine\n' });
    } finally {
      outside.remove();
    }
  });
});

describe('taskflow trace', () => {
  it('shows every attempt with its inputs', async () => {
    const flaky = {
      id: 'flaky',
      type: 'script',
      run: ['sh', 'flaky.sh', 'an argument'],
      retry: { max: 2, backoffMs: 10 },
    };
    project.write('flaky.sh', 'echo "try" >> tries; test $(wc -l < tries) -ge 2 || { echo "not yet" >&2; exit 7; }\n');
    project.write('flaky.json', JSON.stringify({ name: 'flaky', phases: [flaky] }));
    expect((await project.run(['run', './flaky.json', '-q'])).status).toBe(0);
    const { stdout } = await project.run(['trace', 'last']);
    expect(stdout).toMatch(/attempt 1 failed after .*7.*tried again after/);
    expect(stdout).toContain('not yet');
    expect(stdout).toContain('an argument');
    const traced = await json('trace', 'last', 'flaky');
    expect(traced.phases[0].attempts).toHaveLength(1);
    expect((await project.run(['trace', 'last', 'nobody'])).status).toBe(2);
  });

  it('does not say that it was tried again when it was not', async () => {
    const retry = { max: 1, backoffMs: 3_600_000 };
    const phases = [
      { id: 'flaky', type: 'script', run: 'touch failed; exit 7', retry },
      { id: 'other', type: 'script', run: 'while ! test -e failed; do sleep 0.02; done; sleep 0.2; exit 1' },
    ];
    project.write('both.json', JSON.stringify({ name: 'both', phases }));
    await project.run(['run', './both.json', '-q']);
    const { stdout } = await project.run(['trace', 'last', 'flaky']);
    expect(stdout).toContain('(not tried again: other failed)');
    expect(stdout).not.toContain('tried again after');
  });

  it('says once what a failed script said on stdout', async () => {
    const loud = { id: 'loud', type: 'script', run: ['sh', '-c', 'printf "line %s\\n" one two; exit 1'] };
    project.write('loud.json', JSON.stringify({ name: 'loud', phases: [loud] }));
    await project.run(['run', './loud.json', '-q']);
    const { stdout } = await project.run(['trace', 'last']);
    expect(stdout.match(/line two/g)).toHaveLength(1);
  });
});

describe('taskflow checkpoint', () => {
  it('shows each phase once, with what the run had last', async () => {
    const flow = (word: string) =>
      JSON.stringify({ name: 'demo', phases: [{ id: 'a', type: 'script', run: ['echo', word] }] });
    for (const word of ['one', 'two', 'three']) {
      project.write('flow.json', flow(word));
      await project.run(['run', './flow.json', '-q']);
    }
    await project.run(['checkpoint', 'export', 'last', '--out', 'saved.json']);
    const { stdout } = await project.run(['checkpoint', 'show', 'saved.json', '--json']);
    const last = JSON.parse((await project.run(['runs', 'show', 'last', '--json'])).stdout);
    expect(JSON.parse(stdout).phases).toMatchObject([{ id: 'a', status: 'done', key: last.phases[0].key }]);
    expect((await project.run(['checkpoint', 'show', 'saved.json'])).stdout).toContain('of demo: 1 phase\n');
  });

  it('takes a run to another project, intact or not at all', async () => {
    const phases = [
      { id: 'a', type: 'script', run: 'echo ran >> count; echo one' },
      { id: 'b', type: 'script', run: 'test -e ok && echo two', dependsOn: ['a'] },
    ];
    const text = JSON.stringify({ name: 'demo', phases });
    project.write('flow.json', text);
    await project.run(['run', './flow.json', '-q']);
    const exported = await project.run(['checkpoint', 'export', 'last', '--out', 'saved.json', '--json']);
    const bytes = readFileSync(join(project.root, 'saved.json')).length;
    expect(JSON.parse(exported.stdout)).toEqual({ runId: expect.any(String), file: 'saved.json', bytes });
    const elsewhere = createTestProject({ 'flow.json': text, ok: '' });
    try {
      const saved = readFileSync(join(project.root, 'saved.json'), 'utf8');
      elsewhere.write('saved.json', saved);
      expect((await elsewhere.run(['checkpoint', 'show', 'saved.json'])).stdout).toMatch(/ {2}a +done/);
      const resumed = await elsewhere.run(['run', './flow.json', '--resume-from', 'saved.json', '--json']);
      expect(JSON.parse(resumed.stdout)).toMatchObject({ status: 'success', reuse: { executed: 1, run: 1 } });
      elsewhere.write('saved.json', saved.replace('"one', '"two'));
      const refused = await elsewhere.run(['run', './flow.json', '--resume-from', 'saved.json']);
      expect(refused.status).toBe(2);
      expect(refused.stderr).toContain('changed after it was made');
    } finally {
      elsewhere.remove();
    }
  });
});

describe('taskflow cache', () => {
  it('says per phase what is kept, since when or why not, and what the store holds', async () => {
    expect(await json('cache', 'status')).toMatchObject({ entries: 0, bytes: 0, oldest: null, phases: [] });
    await project.run(['run', './flow.json', '-q']);
    const warm = await json('cache', 'status', './flow.json');
    expect(warm).toMatchObject({ dir: expect.any(String), entries: 1, oldest: expect.any(Number) });
    expect(warm.phases[0]).toMatchObject({ id: 'a', state: 'cached', ageMs: expect.any(Number) });
    project.write('in.txt', '2');
    const cold = await json('cache', 'status', './flow.json');
    expect(cold.phases[0]).toMatchObject({ id: 'a', state: 'miss', reason: expect.stringContaining('in.txt') });
    expect(executions()).toBe(1);
  });

  it('says of a phase that failed in the last run that it failed, and how, until it does not', async () => {
    const broken = { id: 'b', type: 'script', run: 'echo no >&2; test -e ok || exit 3', cache: { scope: 'cross-run' } };
    project.write('flow.json', JSON.stringify({ name: 'demo', phases: [broken] }));
    await project.run(['run', './flow.json', '-q']);
    const { phases } = await json('cache', 'status', './flow.json');
    expect(phases).toMatchObject([{ id: 'b', state: 'failed', reason: 'sh exited with status 3' }]);
    const { stdout } = await project.run(['cache', 'status', './flow.json']);
    expect(stdout).toMatch(/✖ b +failed .* ago: sh exited with status 3/);
    project.write('ok', '');
    await project.run(['run', './flow.json', '-q']);
    expect((await json('cache', 'status', './flow.json')).phases).toMatchObject([{ id: 'b', state: 'cached' }]);
  });

  it('says of what was made while a clock was wrong that it is ahead, and pays for it once', async () => {
    await project.run(['run', './flow.json', '-q']);
    const dir = join(project.root, '.pi/taskflows/cache');
    const name = readdirSync(dir).find((file) => /^[0-9a-f]{64}\.json$/.test(file))!;
    const entry = readFileSync(join(dir, name), 'utf8').replace(/,"checksum":"[0-9a-f]{64}"}$/, '');
    const ahead = entry.replace(/"createdAt":\d+/, `"createdAt":${Date.now() + 3 * 3_600_000}`);
    writeFileSync(join(dir, name), `${ahead},"checksum":"${sha256Hex(ahead)}"}`);
    for (const index of ['index.json', 'index.log']) rmSync(join(dir, index), { force: true });
    for (const command of [['list'], ['status'], ['show', name.slice(0, 12)], ['explain', './flow.json', 'a']]) {
      const { stdout } = await project.run(['cache', ...command]);
      expect(stdout).toMatch(/made +(3h|2h \d+m) ahead of the clock/);
    }
    const paid = await json('run', './flow.json');
    expect(paid.phases[0].reason).toMatch(/^entry is from the future/);
    expect((await json('run', './flow.json')).phases[0].cacheHit).toBe('cross-run');
    expect(executions()).toBe(2);
  });

  it('explains what differs from the nearest entry', async () => {
    await project.run(['run', './flow.json', '-q']);
    project.write('in.txt', 'changed');
    const { stdout } = await project.run(['cache', 'explain', './flow.json', 'a']);
    expect(stdout).toMatch(/a would run/);
    expect(stdout).toMatch(/nearest entry [0-9a-f]{12}, made .* ago/);
    expect(stdout).toContain('file:in.txt');
    const [explained] = await json('cache', 'explain', './flow.json', 'a');
    expect(explained.compared[0].changes.length).toBeGreaterThan(0);
    expect((await project.run(['cache', 'explain', './flow.json', 'aa'])).stderr).toContain('did you mean a?');
    expect(executions()).toBe(1);
  });

  it('lists and shows entries', async () => {
    await project.run(['run', './flow.json', '-q']);
    const [entry] = await json('cache', 'list');
    expect(entry).toMatchObject({ flow: 'demo', phaseId: 'a' });
    expect((await project.run(['cache', 'list'])).stdout).toContain(`${entry.key.slice(0, 12)}  demo/a`);
    expect(await json('cache', 'show', entry.key.slice(0, 8))).toMatchObject({
      key: entry.key,
      output: { text: 'one' },
    });
    expect((await project.run(['cache', 'show', entry.key])).stdout).toContain('file:in.txt');
    expect((await project.run(['cache', 'show', 'ffffffff'])).status).toBe(2);
  });

  it('clears what is asked for, and nothing when nothing is', async () => {
    await project.run(['run', './flow.json', '-q']);
    expect((await project.run(['cache', 'clear'])).status).toBe(2);
    expect((await json('cache', 'clear', './flow.json', '--phase', 'b')).entries).toBe(0);
    expect((await json('cache', 'clear', './flow.json', '--older-than', '1h')).entries).toBe(0);
    expect((await json('cache', 'clear', './flow.json', '--dry-run')).entries).toBe(1);
    expect((await project.run(['cache', 'clear', './flow.json'])).stdout).toMatch(/^removed 1 entry, .*B\n$/);
    await project.run(['run', './flow.json', '-q']);
    expect(executions()).toBe(2);
    expect((await json('cache', 'clear', '--all')).entries).toBe(1);
  });

  it.each([
    [['cache', 'clear', 'demp'], 'did you mean demo?'],
    [['cache', 'clear', './flw.json'], 'did you mean ./flow.json?'],
    [['cache', 'clear', './flow.json', '--phase', 'aa'], 'did you mean a?'],
    [['cache', 'clear', '--phase', 'wrk'], 'nothing is kept of a phase wrk'],
    [['runs', 'clear', '--flow', 'demp'], 'did you mean demo?'],
  ])('takes a slip for a slip, not for nothing to do: %j', async (args, said) => {
    await project.run(['run', './flow.json', '-q']);
    const { status, stdout, stderr } = await project.run(args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(said);
  });

  it('has nothing to clear of a flow that never ran, and clears what a flow that is gone has left', async () => {
    expect(await json('cache', 'clear', './flow.json', '--phase', 'a')).toMatchObject({ entries: 0 });
    expect(await json('runs', 'clear', '--flow', './flow.json')).toMatchObject({ runs: 0 });
    await project.run(['run', './flow.json', '-q']);
    rmSync(join(project.root, 'flow.json'));
    expect(await json('cache', 'clear', './flow.json')).toMatchObject({ entries: 1 });
    expect(await json('cache', 'clear', 'demo')).toMatchObject({ entries: 0 });
    expect(await json('runs', 'clear', '--flow', './flow.json')).toMatchObject({ runs: 1 });
  });

  it('continues nothing of a flow that was cleared', async () => {
    const phases = [
      { id: 'a', type: 'script', run: 'echo ran >> count' },
      { id: 'b', type: 'script', run: ['false'], dependsOn: ['a'] },
    ];
    project.write('flow.json', JSON.stringify({ name: 'demo', phases }));
    await project.run(['run', './flow.json', '-q']);
    await project.run(['cache', 'clear', './flow.json']);
    await project.run(['run', './flow.json', '-q']);
    expect(executions()).toBe(2);
  });

  it('finds damage', async () => {
    await project.run(['run', './flow.json', '-q']);
    expect((await project.run(['cache', 'verify'])).status).toBe(0);
    const dir = join(project.root, '.pi/taskflows/cache');
    const name = readdirSync(dir).find((file) => /^[0-9a-f]{64}\.json$/.test(file))!;
    writeFileSync(join(dir, name), readFileSync(join(dir, name), 'utf8').replace('one', 'two'));
    const verified = await project.run(['cache', 'verify']);
    expect(verified.status).toBe(1);
    expect(verified.stdout).toContain('✖ entries');
    expect((await project.run(['cache', 'gc'])).status).toBe(0);
  });

  it('moves to another project in one archive, which is refused whole if it was changed', async () => {
    await project.run(['run', './flow.json', '-q']);
    expect(await json('cache', 'export', 'all.tfc')).toMatchObject({ entries: 1 });
    const nowhere = await project.run(['cache', 'export', 'nowhere/all.tfc']);
    const why = 'nowhere/all.tfc cannot be written: its folder does not exist';
    expect(nowhere).toMatchObject({ status: 2, stderr: `taskflow cache export: ${why}\n` });
    const elsewhere = createTestProject({
      'flow.json': readFileSync(join(project.root, 'flow.json'), 'utf8'),
      'in.txt': '1',
    });
    try {
      const archive = readFileSync(join(project.root, 'all.tfc'));
      const tampered = Buffer.from(archive);
      tampered[tampered.length - 12]! ^= 1;
      writeFileSync(join(elsewhere.root, 'bad.tfc'), tampered);
      const refused = await elsewhere.run(['cache', 'import', 'bad.tfc']);
      expect(refused.status).toBe(2);
      expect(refused.stderr).toContain('nothing was imported');
      writeFileSync(join(elsewhere.root, 'all.tfc'), archive);
      expect((await elsewhere.run(['cache', 'import', 'all.tfc'])).stdout).toContain('took 1 entry');
      const result = JSON.parse((await elsewhere.run(['run', './flow.json', '--json'])).stdout);
      expect(result.reuse.crossRun).toBe(1);
    } finally {
      elsewhere.remove();
    }
  });
});
