import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig({}, 'auto');
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'stale', ...more, phases });
/** Fails until there is a file `ok` beside the project: nothing in the project changes. */
const post = (needs: string[]) => ({ id: 'post', type: 'script', run: 'test -e ../ok', dependsOn: needs });
const repair = () => rig.write('../ok', '');
const reads = (id: string, file: string, more: object = {}) => ({
  id,
  type: 'script',
  run: `bin/tick ${id} "$(cat ${file})"`,
  ...more,
});

describe('a phase that reads what an earlier phase wrote without declaring it', () => {
  const build = { id: 'build', type: 'script', run: 'cp input.txt data.txt; bin/tick build built' };
  const agent = { id: 'sum', type: 'agent', task: 'NAME: sum', dependsOn: ['build'], runner: 'reader' };
  const withReader = () =>
    rig.write(
      '.pi/taskflows/config.yaml',
      'runner: reader\nrunners:\n' +
        '  reader: { command: [sh, -c, "bin/tick sum; cat data.txt"], format: text, model: m }\n',
    );

  it('runs again when that phase ran again, although it said the same', async () => {
    withReader();
    rig.write('input.txt', 'one');
    await rig.run(flow([build, agent, post(['sum'])]));
    rig.write('input.txt', 'two');
    repair();
    const second = await rig.run(flow([build, agent, post(['sum'])]));
    expect(second.status).toBe('success');
    expect(phaseOf(second, 'sum').output).toContain('two');
    expect(rig.counts()).toEqual({ build: 2, sum: 2 });
  });

  it.each([['rerun'], ['from']])('runs again after --%s of that phase', async (how) => {
    const phases = [build, reads('mid', 'data.txt', { dependsOn: ['build'] }), reads('end', 'data.txt')];
    const chain = phases.map((phase, index) => (index === 2 ? { ...phase, dependsOn: ['mid'] } : phase));
    rig.write('input.txt', 'one');
    await rig.run(flow(chain));
    rig.write('input.txt', 'two');
    const selection = how === 'rerun' ? { rerun: ['build'] } : { from: 'build' };
    const second = await rig.run(flow(chain), { selection });
    expect(second.phases.map(({ output }) => output)).toEqual(['built', 'two', 'two']);
    expect(rig.counts()).toEqual({ build: 2, mid: 2, end: 2 });
  });

  it('also inside a nested flow, in later iterations of a loop, and below a reused phase in between', async () => {
    rig.write('.pi/taskflows/inner.json', JSON.stringify({ name: 'inner', phases: [reads('deep', 'data.txt')] }));
    const between = ticking('between', { cache: { fingerprint: [] } }, 'after {steps.build.output}');
    const phases = [
      build,
      between,
      { id: 'nested', type: 'flow', use: 'inner', dependsOn: ['between'] },
      { id: 'each', type: 'map', over: ['x'], run: 'bin/tick item "$(cat data.txt)"', dependsOn: ['between'] },
      post(['nested', 'each']),
    ];
    rig.write('input.txt', 'one');
    await rig.run(flow(phases));
    rig.write('input.txt', 'two');
    repair();
    const second = await rig.run(flow(phases));
    expect(phaseOf(second, 'nested').output).toBe('two');
    expect(phaseOf(second, 'each').json).toEqual(['two']);
    expect(rig.counts()).toEqual({ build: 2, between: 1, deep: 2, item: 2 });
  });

  it('a resumed run holds to it too', async () => {
    const off = { ...build, cache: { scope: 'off' } };
    const phases = [off, reads('mid', 'data.txt', { dependsOn: ['build'] }), post(['mid'])];
    rig.write('input.txt', 'one');
    const { runId } = await rig.run(flow(phases));
    rig.write('input.txt', 'two');
    repair();
    const second = await rig.run(flow(phases), { continuation: { how: 'resume', runId } });
    expect(phaseOf(second, 'mid').output).toBe('two');
  });
});

describe('an edge that only orders', () => {
  const follower = {
    id: 'after',
    type: 'script',
    run: 'bin/tick after "$(cat data.txt)"',
    dependsOn: ['first'],
    cache: { scope: 'cross-run', fingerprint: [] },
  };
  const first = (cache: object) => ({ id: 'first', type: 'script', run: 'cp word data.txt; echo same', cache });

  it.each([
    ['never kept', { scope: 'off' }],
    ['kept within its run', {}],
  ])('on a phase that is %s, keeps nothing below it beyond that execution', async (_name, cache) => {
    rig.write('word', 'one');
    await rig.run(flow([first(cache), follower]));
    rig.write('word', 'two');
    const second = await rig.run(flow([first(cache), follower]), { continuation: { how: 'fresh' } });
    expect(phaseOf(second, 'after').output).toBe('two');
    expect(rig.counts()).toEqual({ after: 2 });
  });

  it('on a phase that is kept across runs, follows what that one said', async () => {
    const kept = first({ scope: 'cross-run', fingerprint: ['file:word'], observe: 'off' });
    rig.write('word', 'one');
    await rig.run(flow([kept, follower]));
    await rig.run(flow([kept, follower]), { continuation: { how: 'fresh' } });
    expect(rig.counts()).toEqual({ after: 1 });
    rig.write('word', 'two');
    const second = await rig.run(flow([kept, follower]), { continuation: { how: 'fresh' } });
    expect(phaseOf(second, 'after').output).toBe('two');
  });
});

describe('a result whose inputs nobody declared is not continued when the world around it is another', () => {
  const phases = () => [ticking('a'), ticking('declared', { cache: { fingerprint: [] } }), post(['a', 'declared'])];
  const again = async (change: () => void, env?: Record<string, string>) => {
    await rig.run(flow(phases()));
    rig.forget();
    change();
    const project = env ? { ...rig.project, env: { ...rig.project.env, ...env } } : undefined;
    const { loadFlow, runFlow } = await import('../../src/index.js');
    if (!project) return rig.run(flow(phases()));
    return runFlow(project, await loadFlow(project, './flow.json')).result;
  };

  const changes: [string, () => void, () => void][] = [
    [
      'a file beside the flow is deleted',
      () => rig.write('beside.txt', ''),
      () => rmSync(join(rig.root, 'beside.txt')),
    ],
    ['a file in a folder is deleted', () => rig.write('d/x', ''), () => rmSync(join(rig.root, 'd/x'))],
    ['a package is edited', () => rig.write('node_modules/p/i.js', '1'), () => rig.write('node_modules/p/i.js', '2')],
    [
      'a file behind a link is edited',
      () => {
        writeFileSync(join(rig.root, '../outside'), '1');
        symlinkSync('../outside', join(rig.root, 'link'));
      },
      () => writeFileSync(join(rig.root, '../outside'), '2'),
    ],
    [
      'a file in a folder behind a link is edited',
      () => {
        mkdirSync(join(rig.root, '../far'));
        writeFileSync(join(rig.root, '../far/x'), '1');
        symlinkSync('../far', join(rig.root, 'link'));
      },
      () => writeFileSync(join(rig.root, '../far/x'), '2'),
    ],
    ['another commit is checked out', () => rig.write('.git/HEAD', 'one'), () => rig.write('.git/HEAD', 'two')],
  ];
  it.each(changes)('%s', async (_name, before, change) => {
    before();
    await again(change);
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('a variable of the environment is another', async () => {
    const result = await again(() => {}, { MODE: 'fast' });
    expect(phaseOf(result, 'a').reason).toBe('MODE changed in the environment, and its inputs are not declared');
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it.each([
    ['an editor has the flow open', () => rig.write('.flow.json.swp', 'x')],
    ['the flow itself was written again', () => rig.write('flow.json', JSON.stringify(flow(phases()), null, 4))],
    ['only the session is another', () => {}, { SSH_CONNECTION: '1', TERM: 'xterm', PWD: '/', SHLVL: '3' }],
  ])('but it is when %s', async (_name, change, env?: Record<string, string>) => {
    await again(change, env);
    expect(rig.counts()).toEqual({});
  });
});

describe('what authors can rely on', () => {
  const phases = (last: string) => [ticking('a'), ticking('b', {}, 'B of {steps.a.output}'), ticking('c', {}, last)];

  it('an edit after a success costs what was edited; an unchanged flow that succeeded starts afresh', async () => {
    const first = await rig.run(flow(phases('C')));
    rig.forget();
    const edited = await rig.run(flow(phases('other C')));
    expect(edited).toMatchObject({ continues: first.runId, reuse: { executed: 1, run: 2 } });
    expect(rig.counts()).toEqual({ c: 1 });
    expect((await rig.run()).continues).toBeUndefined();
    expect(rig.counts()).toEqual({ a: 1, b: 1, c: 2 });
  });

  it.each([
    ['always', 1],
    ['off', 2],
  ])('iteration: %s', async (mode, executions) => {
    rig.write('.pi/taskflows/config.yaml', `${rig.read('.pi/taskflows/config.yaml')}iteration: ${mode}\n`);
    await rig.run(flow([ticking('a')]));
    await rig.run(flow(mode === 'off' ? [ticking('a'), ticking('b')] : [ticking('a')]));
    expect(rig.counts()['a']).toBe(executions);
  });

  it('a result is too old by when it was made, however often it was reused since', async () => {
    let now = 0;
    const { clock } = rig.project;
    const project = { ...rig.project, clock: { ...clock, now: () => clock.now() + now, elapsed: clock.elapsed } };
    const { loadFlow, runFlow } = await import('../../src/index.js');
    const run = async () => runFlow(project, await loadFlow(project, './flow.json')).result;
    rig.write('flow.json', JSON.stringify(flow([ticking('a'), post(['a'])])));
    for (let hours = 0; hours <= 30; hours += 10) {
      now = hours * 3_600_000;
      await run();
    }
    expect(rig.counts()).toEqual({ a: 2 });
  });

  it('a new argument with a default is no other run', async () => {
    const args = (more: object) => ({ args: { n: { default: '1' }, ...more } });
    const first = await rig.run(flow([ticking('a'), post(['a'])], args({})));
    const second = await rig.run(flow([ticking('a'), post(['a'])], args({ extra: { default: 'x' } })));
    expect(second.continues).toBe(first.runId);
    expect(rig.counts()).toEqual({ a: 1 });
  });
});

describe('a result that a run carried without using it', () => {
  it('is compared with the run that used it last, not with the one that carried it', async () => {
    rig.write('f', 'one');
    const first = { id: 'first', type: 'script', run: 'bin/tick first; test ! -e ../bad', cache: { scope: 'off' } };
    const phases = [reads('a', 'f'), first, reads('late', 'f', { dependsOn: ['a'] })];
    await rig.run(flow([...phases, post(['late'])]));
    rig.write('f', 'two');
    rig.write('../bad', '');
    // It stops before it gets to `late`.
    await rig.run(flow([...phases, post(['late'])]), { concurrency: 1 });
    rmSync(join(rig.root, '../bad'));
    repair();
    const third = await rig.run(flow([...phases, post(['late'])]));
    expect(phaseOf(third, 'late').output).toBe('two');
  });

  it('is not reused when the phase ran in its place and failed', async () => {
    rig.write('f', 'one');
    const shaky = { ...reads('a', 'f'), run: 'test ! -e ../bad && bin/tick a "$(cat f)"' };
    await rig.run(flow([shaky, post(['a'])]));
    rig.write('f', 'two');
    rig.write('../bad', '');
    await rig.run(flow([shaky, post(['a'])]));
    rmSync(join(rig.root, '../bad'));
    repair();
    const third = await rig.run(flow([shaky, post(['a'])]));
    expect(phaseOf(third, 'a').output).toBe('two');
  });

  it('is kept for the run after next where nothing has changed: Ctrl-C costs nothing', async () => {
    const phases = [ticking('a'), ticking('b', {}, 'B of {steps.a.output}'), post(['b'])];
    await rig.run(flow(phases));
    const stop = new AbortController();
    stop.abort();
    await rig.run(flow(phases), { signal: stop.signal });
    repair();
    await rig.run(flow(phases));
    expect(rig.counts()).toEqual({ a: 1, b: 1 });
  });
});
