import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { loadFlow } from '../../src/index.js';
import { type Forecast, forecastRun } from '../../src/run/forecast/forecast.js';
import { runCli } from '../support/cli.js';
import { phaseOf } from '../support/rig.js';
import { CACHE, createMemoRig, cross, flow, kept, type MemoRig, makeRepository } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const fresh = { continuation: { how: 'fresh' } } as const;

describe('--no-cache, --refresh, --frozen', () => {
  beforeEach(async () => {
    rig.write('in.txt', '1');
    await rig.executed(
      flow([kept('a', ['file:in.txt']), { id: 'b', type: 'script', run: ['bin/tick', 'b', '{steps.a.output}'] }]),
    );
  });

  it('--no-cache neither reads nor writes', async () => {
    expect(await rig.executed(undefined, { reuse: 'off' })).toEqual({ a: 1, b: 1 });
    rmSync(join(rig.root, CACHE), { recursive: true });
    expect(await rig.executed(undefined, { reuse: 'off' })).toEqual({ a: 1, b: 1 });
    expect(rig.entries()).toEqual([]);
  });

  it('--refresh writes and does not read', async () => {
    const [before] = [rig.entry().createdAt];
    expect(await rig.executed(undefined, { reuse: 'refresh' })).toEqual({ a: 1, b: 1 });
    expect(rig.entry().createdAt).toBeGreaterThan(before);
    expect(await rig.executed()).toEqual({ b: 1 });
  });

  it('--frozen runs what is not cached by design, and passes when nothing changed', async () => {
    const result = await rig.run(undefined, { frozen: true });
    expect(result.status).toBe('success');
    expect(phaseOf(result, 'a').cacheHit).toBe('cross-run');
  });

  it('--frozen with a change is an error with the reason, and executes nothing of it', async () => {
    rig.write('in.txt', '2');
    rig.forget();
    const result = await rig.run(undefined, { frozen: true });
    expect(rig.counts()).toEqual({});
    expect(result.error).toMatchObject({ code: 'frozen', phase: 'a' });
    expect(result.error?.message).toContain('input changed: file:in.txt');
  });

  it('--frozen refuses a failed probe, a new item, and a nested flow that cannot be looked up', async () => {
    const refused = async (phases: object[], warm?: object[]) => {
      if (warm) await rig.run(flow(warm), fresh);
      rig.forget();
      const result = await rig.run(flow(phases), { frozen: true, ...fresh });
      expect(result.error?.code).toBe('frozen');
      expect(rig.counts()).toEqual({});
      expect(result.phases.map(({ items }) => items?.executed ?? 0)).toEqual([0]);
    };
    await refused([kept('a', ['cmd:no-such-program'])]);
    const map = (over: string[]) => [{ id: 'm', type: 'map', over, run: ['bin/tick', 'm', '{item}'], cache: cross() }];
    await refused(map(['x', 'y']), map(['x']));
    const sub = (word: string) => [
      {
        id: 'f',
        type: 'flow',
        def: { name: 'inner', phases: [{ id: 'i', type: 'script', run: ['bin/tick', 'i', word] }] },
        cache: cross(),
      },
    ];
    await refused(sub('two'), sub('one'));
    const keptInside = (word: string) => [
      { id: 'f', type: 'flow', def: { name: 'inner', phases: [kept('i', [], { run: ['bin/tick', 'i', word] })] } },
    ];
    await refused(keptInside('two'), keptInside('one'));
    const inside = {
      id: 'i',
      type: 'script',
      run: ['bin/tick', 'i'],
      cache: { fingerprint: ['file:{steps.n.output}'] },
    };
    const unknown = [
      {
        id: 'f',
        type: 'flow',
        def: { name: 'inner', phases: [{ id: 'n', type: 'script', run: ['printf', 'in.txt'] }, inside] },
        cache: cross(),
      },
    ];
    await refused(unknown, unknown);
  });

  it('the command line ends with status 6 and says why', async () => {
    const env = { PATH: rig.project.env['PATH'], HOME: rig.project.home };
    expect((await runCli(['run', './flow.json', '--frozen'], { cwd: rig.root, env })).status).toBe(0);
    rig.write('in.txt', '2');
    const ended = await runCli(['run', './flow.json', '--frozen'], { cwd: rig.root, env });
    expect(ended.status).toBe(6);
    expect(ended.stderr + ended.stdout).toContain('input changed: file:in.txt');
  });
});

describe('incremental', () => {
  const phases = [
    { id: 'a', type: 'script', run: ['bin/tick', 'a'] },
    { id: 'free', type: 'script', run: ['bin/tick', 'free'], cache: { fingerprint: [] } },
    { id: 'named', type: 'script', run: ['bin/tick', 'named'], cache: { fingerprint: ['file:in.txt'] } },
    { id: 'effect', type: 'script', run: ['bin/tick', 'effect'], idempotent: false },
    { id: 'never', type: 'script', run: ['bin/tick', 'never'], cache: { scope: 'off' } },
    { id: 'once', type: 'script', run: ['bin/tick', 'once'], cache: { scope: 'run-only' } },
    { id: 'gate', type: 'gate', task: 'NAME: gate\nSAY: VERDICT: PASS' },
  ];
  const always = { effect: 1, never: 1, once: 1, gate: 1 };

  it('in a repository: what may be reused is, and what names nothing depends on the whole worktree', async () => {
    rig.write('in.txt', '1');
    rig.write('flow.json', JSON.stringify(flow(phases, { incremental: true })));
    makeRepository(rig.root);
    expect(await rig.executed()).toEqual({ ...always, a: 1, free: 1, named: 1 });
    expect(await rig.executed()).toEqual(always);
    rig.write('unrelated.txt', 'x');
    expect(await rig.executed()).toEqual({ ...always, a: 1 });
    rig.write('in.txt', '2');
    expect(await rig.executed()).toEqual({ ...always, a: 1, named: 1 });
    rig.git('add', '.');
    rig.git('commit', '-q', '-m', 'all');
    expect(await rig.executed()).toEqual({ ...always, a: 1 });
    expect(await rig.executed()).toEqual(always);
  });

  it('outside of a repository: what names nothing stays with its run', async () => {
    rig.write('in.txt', '1');
    expect(await rig.executed(flow(phases, { incremental: true }))).toEqual({ ...always, a: 1, free: 1, named: 1 });
    expect(await rig.executed()).toEqual({ ...always, a: 1 });
  });
});

describe('a dry run', () => {
  async function forecast(more: object = {}): Promise<Forecast> {
    const loaded = await loadFlow(rig.project, './flow.json');
    const { config } = await loadConfig(rig.project);
    const source = { ref: './flow.json', byName: false, file: loaded.file, digest: loaded.digest };
    const told = await forecastRun({ project: rig.project, config, flow: loaded.flow, source, args: {}, ...more });
    if ('refused' in told) throw new Error(told.refused.message);
    return told;
  }
  const would = (told: Forecast) => Object.fromEntries(told.phases.map(({ id, would: what }) => [id, what]));

  it('executes no phase, no agent and no probe, and writes no run', async () => {
    rig.write('bin/probe', '#!/bin/sh\nbin/note probe\n', 0o755);
    const phases = [
      kept('a', ['cmd:bin/probe']),
      { id: 'b', type: 'agent', task: 'NAME: b' },
      { id: 'g', type: 'gate', task: 'NAME: g' },
      { id: 'q', type: 'approval', task: 'ok?' },
    ];
    rig.write('flow.json', JSON.stringify(flow(phases)));
    const told = await forecast();
    expect(rig.counts()).toEqual({});
    expect(rig.entries()).toEqual([]);
    expect(existsSync(join(rig.root, '.pi/taskflows/runs'))).toBe(false);
    expect(would(told)).toEqual({ a: 'unknown', b: 'run', g: 'run', q: 'run' });
    expect(told.phases[0]!.reason).toContain('commands are not run now');
  });

  it('says what a run then does: reuse, run with the reason, unknown below what runs', async () => {
    rig.write('in.txt', '1');
    const phases = [
      kept('same'),
      kept('edited', ['file:in.txt']),
      kept('below', [], { run: ['bin/tick', 'below', '{steps.edited.output}'] }),
      { id: 'm', type: 'map', over: ['x', 'y'], run: ['bin/tick', 'm', '{item}'], cache: cross() },
      { id: 'plain', type: 'script', run: ['bin/tick', 'plain'] },
      { id: 'no', type: 'script', run: ['bin/tick', 'no'], when: '1 == 2' },
      { id: 'f', type: 'flow', def: { name: 'inner', phases: [kept('deep')] } },
    ];
    await rig.executed(flow(phases));
    expect(would(await forecast())).toEqual({
      same: 'reuse',
      edited: 'reuse',
      below: 'reuse',
      m: 'reuse',
      plain: 'run',
      no: 'skip',
      f: 'reuse',
    });
    expect(await rig.executed()).toEqual({ plain: 1 });
    rig.write('in.txt', '2');
    const told = await forecast();
    expect(would(told)).toEqual({
      same: 'reuse',
      edited: 'run',
      below: 'unknown',
      m: 'reuse',
      plain: 'run',
      no: 'skip',
      f: 'reuse',
    });
    expect(told.phases.find(({ id }) => id === 'edited')!.reason).toBe('input changed: file:in.txt');
    expect(told.phases.find(({ id }) => id === 'edited')!.last!.ms).toBeGreaterThan(0);
    expect(await rig.executed()).toEqual({ edited: 1, plain: 1 });
  });

  it("knows what a person's edit of an output will cost, and writes none", async () => {
    const build = {
      id: 'a',
      type: 'script',
      run: 'bin/note a; echo made > made.txt',
      outputs: ['made.txt'],
      cache: cross(),
    };
    await rig.executed(flow([build]));
    rmSync(join(rig.root, 'made.txt'));
    expect(would(await forecast())).toEqual({ a: 'reuse' });
    expect(existsSync(join(rig.root, 'made.txt'))).toBe(false);
    rig.write('made.txt', 'mine');
    const told = await forecast();
    expect(would(told)).toEqual({ a: 'run' });
    expect(told.phases[0]!.reason).toContain('made.txt was changed by someone else');
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('sees through --refresh, --no-cache and a run that would be continued', async () => {
    rig.write('in.txt', '1');
    const phases = [
      kept('a'),
      { id: 'b', type: 'script', run: ['bin/tick', 'b'], cache: { fingerprint: ['file:in.txt'] } },
      { id: 'end', type: 'script', run: 'test -e ok', dependsOn: ['b'] },
    ];
    await rig.executed(flow(phases));
    expect(would(await forecast())).toEqual({ a: 'reuse', b: 'reuse', end: 'run' });
    expect(would(await forecast({ reuse: 'refresh' }))).toEqual({ a: 'run', b: 'run', end: 'unknown' });
    expect(would(await forecast({ reuse: 'off' }))).toEqual({ a: 'run', b: 'run', end: 'unknown' });
    expect(would(await forecast(fresh))).toEqual({ a: 'reuse', b: 'run', end: 'unknown' });
  });
});

describe('the lines that a person reads', () => {
  it('a hit has its age and what it saved; a miss has its reason', async () => {
    rig.write('in.txt', '1');
    rig.write('flow.json', JSON.stringify(flow([kept('a', ['file:in.txt'], { run: 'sleep 0.05; echo x' })])));
    const env = { PATH: rig.project.env['PATH'], HOME: rig.project.home };
    const run = async () => {
      const { stdout, stderr } = await runCli(['run', './flow.json'], { cwd: rig.root, env });
      return stdout + stderr;
    };
    expect(await run()).toMatch(/first time/);
    expect(await run()).toMatch(/CACHED \(cross-run · age \d.* · saved \d+ms\)/);
    rig.write('in.txt', '2');
    expect(await run()).toContain('input changed: file:in.txt');
  });
});
