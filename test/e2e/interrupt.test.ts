import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/run/core/result.js';
import { runCli } from '../support/cli.js';
import { type LiveCli, startCli } from '../support/live-cli.js';
import { livingIn } from '../support/living.js';
import { until } from '../support/processes.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'stop', ...more, phases });
const repair = () => rig.write('../ok', '');

/** A script with a family: a child, a grandchild in a session of its own, and a daemon that nobody is the parent of. */
const FAMILY = `bin/tick up
sleep 61 &
setsid sh -c 'sleep 62 & wait' &
sh -c 'setsid sleep 63 & exit 0'
test -e ../ok || wait`;
const family = (id: string, more: object = {}) => ({ id, type: 'script', run: FAMILY, ...more });

async function start(given: object, seen: readonly string[], args: readonly string[] = []): Promise<LiveCli> {
  rig.write('flow.json', JSON.stringify(given));
  const live = startCli(['run', './flow.json', ...args], { cwd: rig.root });
  const end = Date.now() + 20_000;
  while (!seen.every((name) => rig.executions().includes(name))) {
    if (Date.now() > end) throw new Error(`never saw ${seen.join(', ')}: ${live.stderr()}`);
    await pause(5);
  }
  return live;
}

async function goOn(...args: string[]): Promise<RunResult> {
  const { stdout, stderr } = await runCli(['run', './flow.json', '--json', ...args], { cwd: rig.root });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as RunResult;
}

describe('Ctrl-C and SIGTERM', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s: status 130, everybody is gone, what finished is kept, and the next run goes on',
    async (signal) => {
      const phases = [ticking('a'), family('b', { dependsOn: ['a'] }), ticking('c', { dependsOn: ['b'] })];
      const live = await start(flow(phases), ['a', 'up'], ['--json']);
      await until(() => livingIn(rig.root).length >= 5);
      live.kill(signal);
      const { status, stdout } = await live.done;
      expect(status).toBe(130);
      expect(livingIn(rig.root)).toEqual([]);
      const result = JSON.parse(stdout) as RunResult;
      expect(result.status).toBe('interrupted');
      expect(result.phases.map((phase) => phase.status)).toEqual(['done', 'cancelled', 'cancelled']);
      repair();
      expect((await goOn()).status).toBe('success');
      expect(rig.counts()).toEqual({ a: 1, up: 2, c: 1 });
    },
  );

  it('whoever does not listen to TERM is killed', async () => {
    const stubborn = { id: 'a', type: 'script', run: 'trap "" TERM; bin/tick up; while :; do sleep 0.1; done' };
    const live = await start(flow([stubborn]), ['up']);
    live.kill('SIGTERM');
    expect((await live.done).status).toBe(130);
    expect(livingIn(rig.root)).toEqual([]);
  });

  it('a second Ctrl-C ends at once, and leaves nobody behind', async () => {
    const stubborn = { id: 'b', type: 'script', run: 'trap "" TERM; bin/tick up; while :; do sleep 0.1; done' };
    const live = await start(flow([ticking('a'), stubborn]), ['a', 'up']);
    const startedAt = Date.now();
    live.kill('SIGINT');
    await until(() => live.stderr().includes('once more'));
    live.kill('SIGINT');
    expect((await live.done).status).toBe(130);
    // Whoever ignores TERM has five seconds otherwise.
    expect(Date.now() - startedAt).toBeLessThan(4_000);
    await until(() => livingIn(rig.root).length === 0);
    repair();
    rig.write('flow.json', JSON.stringify(flow([ticking('a'), ticking('b')])));
    expect((await goOn()).status).toBe('success');
    expect(rig.counts()).toEqual({ a: 1, up: 1, b: 1 });
  });

  it('items of a map that are done are kept; those that waited for a turn never begin', async () => {
    const run = ['sh', '-c', 'bin/tick "$0"; case "$0" in [34]) test -e ../ok || sleep 60; esac', '{item}'];
    const mapped = flow([{ id: 'm', type: 'map', over: [1, 2, 3, 4, 5, 6], run }], { concurrency: 2 });
    const live = await start(mapped, ['3', '4'], ['--json']);
    live.kill('SIGINT');
    const { stdout } = await live.done;
    expect(phaseOf(JSON.parse(stdout) as RunResult, 'm').items).toMatchObject({ total: 6, failed: 0 });
    expect(rig.counts()).toEqual({ 1: 1, 2: 1, 3: 1, 4: 1 });
    repair();
    await goOn();
    expect(rig.counts()).toEqual({ 1: 1, 2: 1, 3: 2, 4: 2, 5: 1, 6: 1 });
  });

  it('an agent is ended with what it started, in whatever session', async () => {
    rig.write(
      'bin/agent',
      `#!/bin/sh\ncat > /dev/null\nsetsid sh -c 'setsid sleep 63 & exit 0' &\nbin/tick up > /dev/null\nsleep 64\n`,
      0o755,
    );
    const live = await start(flow([{ id: 'a', type: 'agent', task: 'x' }]), ['up']);
    await until(() => livingIn(rig.root).length >= 3);
    live.kill('SIGTERM');
    expect((await live.done).status).toBe(130);
    expect(livingIn(rig.root)).toEqual([]);
  });

  it('before anything has begun it ends just as well', async () => {
    rig.write('flow.json', JSON.stringify(flow([ticking('a')])));
    for (const delay of [0, 20, 40, 60, 80]) {
      const live = startCli(['run', './flow.json'], { cwd: rig.root });
      await pause(delay);
      live.kill('SIGINT');
      const { status, signal } = await live.done;
      expect([130, 0, null]).toContain(status);
      if (status === null) expect(signal).toBe('SIGINT');
    }
    expect(livingIn(rig.root)).toEqual([]);
  });

  it('during the pause before a retry it does not wait for the pause to end', async () => {
    const phases = [{ id: 'a', type: 'script', run: 'bin/tick a; exit 1', retry: { max: 3, backoffMs: 60_000 } }];
    const live = await start(flow(phases), ['a'], ['--json']);
    await until(() => /retry|again/i.test(live.stderr()));
    live.kill('SIGINT');
    const { status, stdout } = await live.done;
    expect([status, (JSON.parse(stdout) as RunResult).status]).toEqual([130, 'interrupted']);
  });
});

describe('killed outright', () => {
  it('whoever survived is ended before the run goes on', async () => {
    const live = await start(flow([ticking('a'), family('b', { dependsOn: ['a'] })]), ['a', 'up']);
    await until(() => livingIn(rig.root).length >= 5);
    live.kill('SIGKILL');
    await live.done;
    expect(livingIn(rig.root).length).toBeGreaterThan(0);
    repair();
    const result = await goOn();
    expect(result.status).toBe('success');
    expect(livingIn(rig.root)).toEqual([]);
    expect(rig.counts()).toEqual({ a: 1, up: 2 });
  });
});

describe('nobody is left after any other kind of ending', () => {
  it.each([
    ['success', [family('a')], 0],
    ['a failure', [{ id: 'a', type: 'script', run: FAMILY.replace('test -e ../ok || wait', 'exit 3') }], 1],
    ['a time limit', [family('a', { timeout: '300ms' })], 1],
    ['silence', [family('a', { idleTimeout: '300ms' })], 1],
  ])('%s', async (what, phases, wanted) => {
    if (what === 'success') repair();
    rig.write('flow.json', JSON.stringify(flow(phases as object[])));
    const { status } = await runCli(['run', './flow.json'], { cwd: rig.root });
    expect(status).toBe(wanted);
    expect(livingIn(rig.root)).toEqual([]);
  });

  it('the time limit of the whole run, and of a nested flow', async () => {
    rig.write('sub.json', JSON.stringify({ name: 'sub', phases: [family('inner')] }));
    rig.write('flow.json', JSON.stringify(flow([{ id: 'f', type: 'flow', use: './sub.json', timeout: '400ms' }])));
    const nested = await goOn();
    expect(nested).toMatchObject({ status: 'failed', error: { code: 'timeout', phase: 'f' } });
    expect(livingIn(rig.root)).toEqual([]);
    rig.write('flow.json', JSON.stringify(flow([ticking('a'), family('b', { dependsOn: ['a'] })])));
    const whole = await goOn('--timeout', '600ms');
    expect(whole).toMatchObject({ status: 'failed', error: { code: 'timeout', phase: 'b' } });
    expect(phaseOf(whole, 'a').status).toBe('done');
    expect(livingIn(rig.root)).toEqual([]);
  });

  it('losers of a race, and those that may finish', async () => {
    const branches = [
      { id: 'slow', run: FAMILY },
      { id: 'fast', run: 'sleep 0.3; bin/tick fast won' },
    ];
    rig.write('flow.json', JSON.stringify(flow([{ id: 'r', type: 'race', branches }])));
    const result = await goOn();
    expect(result.output).toBe('won');
    expect(livingIn(rig.root)).toEqual([]);
    const patient = [{ id: 'late', run: 'sleep 0.5; bin/tick late' }, branches[1]!];
    rig.forget();
    rig.write('flow.json', JSON.stringify(flow([{ id: 'r', type: 'race', branches: patient, cancelLosers: false }])));
    await goOn('--fresh');
    expect(rig.counts()).toEqual({ fast: 1, late: 1 });
  });

  it('what is under way when another phase fails finishes and is kept', async () => {
    const phases = [
      { id: 'bad', type: 'script', run: 'sleep 0.1; test -e ../ok' },
      { id: 'good', type: 'script', run: 'bin/tick good; sleep 0.4' },
    ];
    rig.write('flow.json', JSON.stringify(flow(phases)));
    const first = await goOn();
    expect(first.phases.map(({ status }) => status)).toEqual(['failed', 'done']);
    repair();
    expect((await goOn()).status).toBe('success');
    expect(rig.counts()).toEqual({ good: 1 });
  });
});
