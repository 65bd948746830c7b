import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../support/processes.js';
import { createPlanRig, GOOD, type PlanRig, WRONG } from './support.js';

let rig: PlanRig;
beforeEach(() => {
  rig = createPlanRig();
});
afterEach(() => rig.remove());

const json = (text: string) => JSON.parse(text) as Record<string, never>;
const planned = () => rig.counts()['plan'] ?? 0;
const leftovers = () =>
  readdirSync(join(rig.root, '.pi/taskflows/assembled')).filter((name) => /claim|tmp|guard/.test(name));

it('Ctrl-C keeps what was paid for: the next call goes on from there', async () => {
  rig.answers(WRONG, { says: GOOD, sleepMs: 60_000 });
  const live = rig.spawnAssemble('--json');
  await until(() => planned() === 2, 30_000);
  live.kill('SIGINT');
  const { status, stdout, stderr } = await live.done;
  expect(status).toBe(130);
  expect(json(stdout)).toMatchObject({ status: 'incomplete', ended: 'interrupted', rounds: 1 });
  expect(stderr).toContain('The same command goes on from here');
  expect(leftovers()).toEqual([]);
  rig.forget();
  rig.answers(GOOD);
  const next = await rig.assemble('--json');
  expect(json(next.stdout)).toMatchObject({ status: 'complete', how: 'continued', rounds: 2 });
  expect(rig.prompts()[0]).toContain('The example case1 failed');
  expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
});

it('Ctrl-C while an example is tried: the flow that was paid for is tried first', async () => {
  const slow = { phases: [{ ...GOOD.phases[0], task: `NAME: slow\nSLEEP\n${GOOD.phases[0]!.task}` }] };
  rig.answers(slow);
  const live = rig.spawnAssemble();
  await until(() => rig.counts()['slow'] === 1, 30_000);
  live.kill('SIGTERM');
  expect((await live.done).status).toBe(130);
  rig.wake();
  rig.forget();
  const next = await rig.assemble('--json');
  expect(json(next.stdout)).toMatchObject({ status: 'complete', how: 'continued' });
  expect(rig.counts()).toEqual({ slow: 1 });
});

it('killed in the middle: rounds that were done are there, and the next call goes on after them', async () => {
  rig.answers(WRONG, { says: GOOD, sleepMs: 60_000 });
  const live = rig.spawnAssemble();
  await until(() => planned() === 2, 30_000);
  live.kill('SIGKILL');
  await live.done;
  expect(rig.records().map(({ ended }) => ended)).toEqual(['under-way']);
  rig.forget();
  rig.answers(GOOD);
  const next = await rig.assemble('--json');
  expect(json(next.stdout)).toMatchObject({ status: 'complete', how: 'continued', rounds: 2 });
  expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
  expect(leftovers()).toEqual([]);
});

it('two processes that ask for the same thing plan once', async () => {
  rig.answers({ says: GOOD, sleepMs: 1_500 });
  const [one, two, three] = await Promise.all([rig.assemble('--json'), rig.assemble('--json'), rig.assemble('--json')]);
  const all = [one, two, three].map(({ stdout }) => json(stdout));
  expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  expect(all.map(({ how }) => how).sort()).toEqual(['disk', 'disk', 'planned']);
  expect(rig.counts()).toEqual({ plan: 1, shout: 1 });
  expect([one, two, three].filter(({ stderr }) => stderr.includes('plans the same thing')).length).toBeGreaterThan(0);
});

it('who waits for another process can stop waiting', async () => {
  rig.answers({ says: GOOD, sleepMs: 60_000 });
  const first = rig.spawnAssemble();
  await until(() => planned() === 1, 30_000);
  const second = rig.spawnAssemble();
  await until(() => second.stderr().includes('plans the same thing'), 30_000);
  second.kill('SIGINT');
  expect((await second.done).status).toBe(130);
  first.kill('SIGINT');
  expect((await first.done).status).toBe(130);
  expect(planned()).toBe(1);
  expect(existsSync(join(rig.root, '.pi/taskflows/assembled'))).toBe(true);
});
