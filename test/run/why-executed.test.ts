import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/run/core/result.js';
import { createTestProject, type TestProject } from '../support/cli.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'why', ...more, phases });
const kept = (id: string, more: object = {}, text = `said ${id}`) =>
  ticking(id, { cache: { scope: 'cross-run', fingerprint: [] }, ...more }, text);
const why = (result: RunResult) => Object.fromEntries(result.phases.map(({ id, reason }) => [id, reason]));
const FRESH = { continuation: { how: 'fresh' } } as const;

describe('a phase that is kept within its run only says why it is executed', () => {
  const nested = { id: 'n', type: 'flow', def: { phases: [ticking('x')] } };
  const items = { id: 'm', type: 'map', over: [1, 2], run: ['bin/tick', 'm', '{item}'] };
  const phases = [ticking('a'), nested, items];

  it('the first time, and in each new run', async () => {
    const first = await rig.run(flow(phases));
    expect(why(first)).toEqual({ a: 'first time', n: 'first time', m: 'first time' });
    expect(why(await rig.run())).toEqual({ a: 'new run', n: 'new run', m: 'new run' });
    expect(rig.counts()).toEqual({ a: 2, x: 2, m: 4 });
  });

  it('by a flag that names it', async () => {
    await rig.run(flow(phases));
    expect(why(await rig.run(undefined, { selection: { rerun: ['a'] } }))['a']).toBe('--rerun');
    expect(why(await rig.run(undefined, { selection: { only: 'a' } }))['a']).toBe('--only');
    expect(why(await rig.run(undefined, { reuse: 'off' }))['a']).toBe('--no-cache');
  });

  it('in a run that is continued: it failed, it was not come to, it was edited, it is new', async () => {
    const end = { id: 'end', type: 'script', run: 'bin/tick end; test -e ok', dependsOn: ['a'] };
    const after = ticking('after', { dependsOn: ['end'] });
    const first = await rig.run(flow([ticking('a'), end, after]));
    rig.write('ok', '');
    const resumed = { continuation: { how: 'resume', runId: first.runId } } as const;
    const edited = ticking('a', {}, 'other words');
    const second = await rig.run(flow([edited, end, after, ticking('late')]), resumed);
    expect(phaseOf(second, 'a').reason).toMatch(/^command changed: .*other words/);
    expect(phaseOf(second, 'after').reason).toBe('not run last time');
    expect(phaseOf(second, 'late').reason).toBe('first time');
    expect(rig.counts()).toEqual({ a: 2, end: 2, after: 1, late: 1 });
  });

  it('in a run that is continued: it ran with other inputs since, and does not name itself as its cause', async () => {
    const said = (text: string) => flow([ticking('a', {}, text), { id: 'end', type: 'script', run: 'exit 1' }]);
    const { runId } = await rig.run(said('one'));
    const second = await rig.run(said('two'), { continuation: { how: 'resume', runId } });
    const third = await rig.run(said('one'), { continuation: { how: 'resume', runId: second.runId } });
    expect(phaseOf(third, 'a').reason).toBe('it ran again since');
  });

  it('in a run that is continued: it failed', async () => {
    const end = { id: 'end', type: 'script', run: 'bin/tick end; test -e ok' };
    const first = await rig.run(flow([end]));
    rig.write('ok', '');
    const second = await rig.run(flow([end]), { continuation: { how: 'resume', runId: first.runId } });
    expect(phaseOf(second, 'end').reason).toBe('failed last time');
  });
});

describe('a phase that is kept across runs says why it is executed', () => {
  it('the first time; because its entry is gone; because it failed', async () => {
    const phases = [kept('a'), kept('b', { run: 'bin/tick b; test -e ok' })];
    expect(why(await rig.run(flow(phases)))).toEqual({ a: 'first time', b: 'first time' });
    rmSync(join(rig.root, '.pi/taskflows/cache'), { recursive: true });
    expect(why(await rig.run(undefined, FRESH))).toEqual({ a: 'cleared or evicted since', b: 'failed last time' });
  });

  it('the last run did not keep it: nobody has cleared or evicted what was never there', async () => {
    await rig.run(flow([kept('a')]), { reuse: 'off' });
    expect(why(await rig.run(undefined, FRESH))).toEqual({ a: 'not in the store' });
    const cache = { scope: 'cross-run', fingerprint: ['file:in.txt'] };
    rig.write('in.txt', '1');
    await rig.run(flow([{ id: 'm', type: 'script', run: 'date > in.txt', cache }]));
    rig.write('in.txt', '1');
    const last = await rig.run(undefined, FRESH);
    expect(why(last)).toEqual({ m: 'not in the store' });
  });

  it('the last run took it from the one before, which did not keep it', async () => {
    const { runId } = await rig.run(flow([kept('a')]), { reuse: 'off' });
    const resumed = await rig.run(undefined, { continuation: { how: 'resume', runId } });
    expect(phaseOf(resumed, 'a').cacheHit).toBe('run');
    expect(why(await rig.run(undefined, FRESH))).toEqual({ a: 'not in the store' });
  });

  it('what changed since it was kept, where the last run did not come to it', async () => {
    rig.write('in.txt', '1');
    const a = kept('a', { cache: { scope: 'cross-run', fingerprint: ['file:in.txt'] }, dependsOn: ['gate'] });
    const gate = {
      id: 'gate',
      type: 'script',
      run: 'test ! -e closed',
      cache: { scope: 'cross-run', fingerprint: ['file:closed'] },
    };
    await rig.run(flow([gate, a]));
    rig.write('closed', '');
    await rig.run(undefined, FRESH);
    rmSync(join(rig.root, 'closed'));
    rig.write('in.txt', '2');
    const result = await rig.run(undefined, FRESH);
    expect(phaseOf(result, 'a').reason).toBe('input changed: file:in.txt');
    expect(rig.counts()).toEqual({ a: 2 });
  });

  it('what is new beside others was never there: an item is not another one that changed', async () => {
    const map = (over: string[]) => flow([{ ...kept('m'), type: 'map', over, run: ['bin/tick', '{item}', '{item}'] }]);
    await rig.run(map(['x', 'y']));
    rmSync(join(rig.root, '.pi/taskflows/runs'), { recursive: true });
    expect(phaseOf(await rig.run(map(['z'])), 'm').reason).toBe('first time');
  });
});

describe('after `cache import`', () => {
  const script = 'cat in.txt; echo "$TOKEN"';
  const build = {
    id: 'build',
    type: 'script',
    run: script,
    env: { TOKEN: '{args.token}' },
    cache: { scope: 'cross-run', fingerprint: ['file:in.txt', 'env:MODE'] },
  };
  const files = {
    'flow.json': JSON.stringify({ name: 'f', args: { token: { default: 't' } }, phases: [build] }),
    'in.txt': '1\n',
  };
  const env = { MODE: 'x' };
  const projects: TestProject[] = [];
  afterEach(() => {
    for (const project of projects.splice(0)) project.remove();
  });

  /** A project that has what another one has kept, and has run nothing. */
  async function imported(): Promise<TestProject> {
    const [there, here] = [createTestProject(files), createTestProject(files)];
    projects.push(there, here);
    await there.run(['run', './flow.json'], { env });
    await there.run(['cache', 'export', join(here.root, 'cache.tfc')]);
    expect((await here.run(['cache', 'import', 'cache.tfc'])).stdout).toContain('took 1 entry');
    return here;
  }
  const ran = async (project: TestProject, changed: Record<string, string> = {}) => {
    const { stdout } = await project.run(['run', './flow.json', '--fresh', '--json'], { env: { ...env, ...changed } });
    return phaseOf(JSON.parse(stdout) as RunResult, 'build');
  };

  it('the reason is what differs from the nearest entry, before anything has run here', async () => {
    const here = await imported();
    here.write('in.txt', '2\n');
    expect(await ran(here)).toMatchObject({ cacheHit: null, reason: 'input changed: file:in.txt' });
  });

  it('nothing is said to have changed that only another store has sealed', async () => {
    const other = await imported();
    expect((await ran(other, { MODE: 'y' })).reason).toContain(
      'input may have changed: env:MODE (kept by another store)',
    );
  });
});
