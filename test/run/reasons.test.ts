import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import type { RunResult } from '../../src/run/core/result.js';
import { runCli } from '../support/cli.js';
import { startCli } from '../support/live-cli.js';
import { until } from '../support/processes.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'told', ...more, phases });
const failing = (needs: string[]) => ({ id: 'end', type: 'script', run: 'bin/tick end; exit 1', dependsOn: needs });
/** As the same user: what another one began is not continued. */
const cli = (...args: string[]) =>
  runCli(['run', './flow.json', ...args], { cwd: rig.root, env: { HOME: rig.project.home } });
const OUTDATED = 'z changed since, and its inputs are not declared';

/** What the run said about the one that it continues. */
async function continued(given: object, options: object = {}) {
  let said: Extract<RunEvent, { type: 'run-start' }>['continues'];
  const result = await rig.run(given, {
    ...options,
    onEvent: (event) => {
      if (event.type === 'run-start') said = event.continues;
    },
  });
  return { result, said };
}

describe('work of which nothing had to be done', () => {
  const no = { when: '1 == 2' };
  const phases = [
    { id: 'nested', type: 'flow', def: { phases: [ticking('a', no)] } },
    { id: 'whole', type: 'flow', cache: { scope: 'cross-run' }, def: { phases: [ticking('b', no)] } },
    { id: 'each', type: 'map', over: [1, 2], use: './sub.json' },
    { id: 'none', type: 'map', over: [], run: ['bin/tick', 'd'] },
  ];
  beforeEach(() => rig.write('sub.json', JSON.stringify({ name: 'sub', phases: [ticking('c', no)] })));

  it('is not counted as executed, and says that it was skipped', async () => {
    const result = await rig.run(flow(phases));
    expect(result).toMatchObject({ status: 'success', reuse: { executed: 0, run: 0, crossRun: 0 } });
    for (const id of ['nested', 'whole', 'each']) {
      expect(phaseOf(result, id)).toMatchObject({ status: 'done', attempts: 0, reason: 'all of it was skipped' });
    }
    expect(phaseOf(result, 'none').reason).toBe('nothing to do: the list is empty');
    const skipped = await rig.run(flow([{ id: 'f', type: 'flow', def: { phases: [ticking('x')] } }]), {
      selection: { skip: ['f/x'] },
    });
    expect(skipped.reuse.executed).toBe(0);
  });

  it('counts where one of it was executed', async () => {
    const def = { phases: [ticking('a', no), ticking('b')] };
    const result = await rig.run(flow([{ id: 'f', type: 'flow', def }]));
    expect(result.reuse.executed).toBe(1);
  });

  it('would be skipped, says a dry run of what it looks into', async () => {
    rig.write('flow.json', JSON.stringify(flow(phases)));
    const forecast = JSON.parse((await cli('--dry-run', '--json')).stdout);
    expect(forecast.phases.map(({ would }: { would: string }) => would)).toEqual(['skip', 'run', 'skip', 'skip']);
  });
});

describe('a run that continues another one', () => {
  const fp = ticking('fp', { cache: { fingerprint: ['file:z'] } });
  const phases = [fp, ticking('a'), failing(['fp', 'a'])];

  it('says how many phases are reused, and why the others are not', async () => {
    rig.write('z', '1\n');
    rig.write('flow.json', JSON.stringify(flow(phases)));
    await cli();
    expect((await cli()).stderr).toMatch(/continuing run \S+ \(failed .*\): 2 of 3 phases reused; --fresh starts over/);
    expect(rig.counts()).toEqual({ fp: 1, a: 1, end: 2 });
    rig.write('z', '2\n');
    const forecast = JSON.parse((await cli('--dry-run', '--json')).stdout);
    expect(forecast.phases.slice(0, 2)).toMatchObject([
      { id: 'fp', would: 'run', reason: 'input changed: file:z' },
      { id: 'a', would: 'run', reason: OUTDATED },
    ]);
    const { stdout, stderr } = await cli('--json');
    expect(stderr).toContain(': 0 of 3 phases reused');
    expect(stderr).toMatch(/✔ fp .*ran \(input changed: file:z\)/);
    expect(stderr).toContain(`ran (${OUTDATED})`);
    const result = JSON.parse(stdout);
    expect(phaseOf(result, 'fp').reason).toBe('input changed: file:z');
    expect(phaseOf(result, 'a').reason).toBe(OUTDATED);
    expect(rig.counts()).toEqual({ fp: 2, a: 2, end: 3 });
  });

  it('compares with what a phase was made from, however many phases ask', async () => {
    const many = Array.from({ length: 12 }, (_, index) => `p${index}`);
    const made = many.map((id) => ticking(id, { cache: { fingerprint: ['file:z'] } }));
    rig.write('z', '1\n');
    await rig.run(flow([...made, failing(many)]));
    await rig.run(flow([...made, failing(many)]));
    rig.write('z', '2\n');
    const result = await rig.run(flow([...made, failing(many)]));
    for (const id of many) expect(phaseOf(result, id).reason).toBe('input changed: file:z');
  });

  it('does not count what is known to run: named phases, edited ones, decisions', async () => {
    const gate = { id: 'g', type: 'gate', dependsOn: ['a'], task: 'NAME: judge\nSAY: VERDICT: PASS' };
    const gated = [ticking('a'), ticking('b'), gate, failing(['b', 'g'])];
    await rig.run(flow(gated));
    expect((await continued(flow(gated))).said).toMatchObject({ reusable: 2, total: 4 });
    expect((await continued(flow(gated), { selection: { rerun: ['a'] } })).said).toMatchObject({ reusable: 1 });
    const edited = [ticking('a'), ticking('b', {}, 'another text'), gate, failing(['b', 'g'])];
    const { result, said } = await continued(flow(edited));
    expect(said).toMatchObject({ reusable: 1 });
    expect(phaseOf(result, 'g').reason).toBe('gates and approvals are decided anew in each run');
  });

  it('says that more may be reused where that depends on what runs first', async () => {
    const chain = (command: string) => [
      { id: 'a', type: 'script', run: command },
      ticking('b', { cache: { fingerprint: [] } }, 'b of {steps.a.output}'),
      failing(['b']),
    ];
    await rig.run(flow(chain('bin/tick a same')));
    const { result, said } = await continued(flow(chain('bin/tick a same # edited')));
    expect(said).toMatchObject({ reusable: 0, known: 'at-least' });
    expect(result.reuse).toMatchObject({ run: 1 });
    expect(rig.counts()).toEqual({ a: 2, b: 1, end: 2 });
    rig.write('flow.json', JSON.stringify(flow(chain('bin/tick a same # again'))));
    expect((await cli()).stderr).toMatch(/continuing run \S+ \(failed .*, flow.json edited\); --fresh starts over/);
  });

  it('asks a command once, not once more for the count', async () => {
    const asking = ticking('a', { cache: { fingerprint: ['cmd:bin/tick asked'] } });
    await rig.run(flow([asking, failing(['a'])]));
    rig.forget();
    const { said } = await continued(flow([asking, failing(['a'])]));
    expect(said).toMatchObject({ reusable: 1 });
    expect(rig.counts()).toEqual({ asked: 1, end: 1 });
  });

  it('only says what was done there where looking at all of it would take long', async () => {
    const wide = [{ id: 'm', type: 'map', over: Array.from({ length: 301 }, (_, i) => i), run: ['true', '{item}'] }];
    await rig.run(flow([...wide, failing(['m'])]));
    expect((await continued(flow([...wide, failing(['m'])]))).said).toMatchObject({ reusable: 1, known: 'done' });
    expect((await cli()).stderr).toContain(': 1 of 2 phases done there; --fresh starts over');
  });
});

describe('a phase that was stopped, or did not begin, says why', () => {
  const slow = (id: string, more: object = {}) => ({
    id,
    type: 'script',
    run: `bin/tick ${id}; exec sleep 60`,
    ...more,
  });
  const reasons = (result: RunResult) => Object.fromEntries(result.phases.map(({ id, reason }) => [id, reason]));

  it('interrupted', async () => {
    rig.write('flow.json', JSON.stringify(flow([slow('b'), ticking('c', { dependsOn: ['b'] })])));
    const live = startCli(['run', './flow.json'], { cwd: rig.root });
    await until(() => rig.executions().includes('b'));
    live.kill('SIGINT');
    await live.done;
    expect(live.stderr()).toMatch(/– b cancelled {2}\S+ · interrupted/);
    expect(live.stderr()).not.toContain('not cached across runs');
  });

  it('the time of the run was over, for what was under way and for what waited', async () => {
    const run = (id: string) => ({ id, run: 'exec sleep 60' });
    const items = { id: 'm', type: 'map', over: ['x', 'y'], run: 'bin/tick m; exec sleep 60' };
    const phases = [slow('b'), items, { id: 'r', type: 'race', branches: [run('one'), run('two')] }];
    const waiting = ticking('w');
    const result = await rig.run(flow([...phases, waiting], { concurrency: 3 }), { timeoutMs: 600 });
    const late = 'the run took longer than --timeout allows (600ms)';
    expect(result).toMatchObject({ status: 'failed', error: { code: 'timeout', message: late } });
    expect(reasons(result)).toMatchObject({ b: late, m: late });
    expect(reasons(result)['w']).toContain(late);
    expect(result.phases.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled']);
    expect(rig.counts()).not.toHaveProperty('w');
  });

  it('another phase failed before it had its turn', async () => {
    const fails = { id: 'a', type: 'script', run: 'bin/tick a; exit 1' };
    const result = await rig.run(flow([fails, ticking('b'), ticking('c'), ticking('d')], { concurrency: 1 }));
    expect(reasons(result)).toMatchObject({ c: 'not started: a failed', d: 'not started: a failed' });
    expect(rig.counts()).not.toHaveProperty('c');
  });

  it('a failure and then Ctrl-C: what was under way was interrupted, what waited has not failed', async () => {
    const stop = new AbortController();
    const fails = { id: 'a', type: 'script', run: 'until test -e ../go; do sleep 0.02; done; exit 1' };
    const handle = await rig.start(flow([fails, slow('b'), slow('c'), ticking('w')], { concurrency: 2 }), {
      signal: stop.signal,
    });
    await until(() => rig.executions().includes('b'));
    rig.write('../go', '');
    for await (const event of handle.events) if (event.type === 'phase-end' && event.phase === 'a') stop.abort();
    const result = await handle.result;
    expect(reasons(result)).toMatchObject({ b: 'interrupted', w: 'not started: a failed' });
    expect(phaseOf(result, 'w').status).toBe('cancelled');
  });

  it('the budget was used up', async () => {
    rig.write('bin/priced', '#!/bin/sh\ncat > /dev/null\necho \'{"text":"hi","usage":{"usd":1}}\'\n', 0o755);
    rig.write('.pi/taskflows/config.yaml', 'runner: p\nrunners:\n  p: { command: [bin/priced], format: json }\n');
    const phases = [
      { id: 'a', type: 'agent', task: 'a' },
      { id: 'b', type: 'agent', task: 'b', dependsOn: ['a'] },
    ];
    const result = await rig.run(flow(phases, { budget: { maxUSD: 1 } }));
    expect(result.status).toBe('over-budget');
    expect(reasons(result)['b']).toBe('the budget of $1.00 is used up ($1.00 spent)');
  });
});

describe('what changed since the last run', () => {
  it('is not what an item that was reused there had been made from', async () => {
    const list = (count: number) => JSON.stringify(Array.from({ length: count }, (_, index) => index));
    const given = (count: number) =>
      flow([
        { id: 'list', type: 'script', run: ['echo', list(count)], output: 'json' },
        {
          id: 'm',
          type: 'map',
          over: '{steps.list.json}',
          run: ['bin/tick', 'item', '{item}'],
          cache: { scope: 'cross-run', fingerprint: ['file:sh.txt'] },
        },
      ]);
    rig.write('sh.txt', '1');
    await rig.run(given(10));
    const grown = await rig.run(given(11));
    expect(phaseOf(grown, 'm').items).toMatchObject({ executed: 1, reused: 10 });
    expect(phaseOf(await rig.run(), 'm').reason).toBe('all 11 reused');
    rig.write('sh.txt', '2');
    const edited = await rig.run();
    expect(phaseOf(edited, 'm')).toMatchObject({ reason: 'input changed: file:sh.txt', items: { executed: 11 } });
    // What did change since the last run is still told.
    rig.write('sh.txt', '3');
    expect(phaseOf(await rig.run(given(12)), 'm').reason).toBe('input changed: file:sh.txt; upstream list changed');
    expect(rig.counts()).toEqual({ item: 10 + 1 + 11 + 12 });
  });
});
