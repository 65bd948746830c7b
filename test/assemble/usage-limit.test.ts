import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlanRig, GOOD, type PlanRig } from './support.js';

let rig: PlanRig;
beforeEach(() => {
  rig = createPlanRig();
});
afterEach(() => rig.remove());

const json = (text: string) => JSON.parse(text) as Record<string, never>;

it('the planner waits for a usage limit, says so, and goes on by itself', async () => {
  rig.answers({ says: '', limitMs: 1_500 }, GOOD);
  const { status, stdout, stderr } = await rig.assemble('--json');
  expect([status, json(stdout)]).toMatchObject([0, { status: 'complete', rounds: 1 }]);
  expect(stderr).toMatch(/scripted's usage limit is reached \(.*enough for now\): waiting until \d\d:\d\d/);
  expect(rig.counts()).toEqual({ plan: 2, shout: 1 });
});

it('with --no-wait it ends with status 4, and the same command goes on', async () => {
  rig.answers({ says: '', limitMs: 3_600_000 }, GOOD);
  const first = await rig.assemble('--json', '--no-wait');
  expect([first.status, json(first.stdout)]).toMatchObject([4, { status: 'incomplete', ended: 'limit' }]);
  expect(first.stderr).toContain('The same command goes on from here, once the limit is reset');
  expect(rig.counts()).toEqual({ plan: 1 });
  const next = await rig.assemble('--json', '--no-wait');
  expect([next.status, json(next.stdout)]).toMatchObject([0, { status: 'complete', how: 'continued' }]);
  expect(rig.counts()).toEqual({ plan: 2, shout: 1 });
});

it('a limit while an example is tried says nothing about the flow', async () => {
  rig.answers({ phases: [{ ...GOOD.phases[0], task: `LIMIT\n${GOOD.phases[0]!.task}` }] });
  const first = await rig.assemble('--json', '--no-wait');
  expect([first.status, json(first.stdout)]).toMatchObject([4, { status: 'incomplete', ended: 'limit', rounds: 1 }]);
  rig.wake();
  const next = await rig.assemble('--json', '--no-wait');
  expect([next.status, json(next.stdout)]).toMatchObject([0, { status: 'complete', how: 'continued' }]);
  // The flow that was paid for is tried again; nobody is asked for another one.
  expect(rig.counts()).toEqual({ plan: 1, shout: 2 });
});

it('a phase that assembles its flow pauses the run', async () => {
  rig.answers({ says: '', limitMs: 3_600_000 }, GOOD);
  const spec = { task: 'Say a word loudly', input: { type: 'object', properties: { word: { type: 'string' } } } };
  const output = { type: 'object', properties: { loud: { type: 'string' } } };
  const phase = { id: 'make', type: 'flow', assemble: { ...spec, output }, with: { word: 'abc' } };
  rig.write('outer.json', JSON.stringify({ name: 'outer', phases: [phase] }));
  const first = await rig.taskflow('run', './outer.json', '--no-wait', '--json');
  expect([first.status, json(first.stdout)]).toMatchObject([4, { status: 'paused', error: { code: 'usage-limit' } }]);
  const next = await rig.taskflow('run', './outer.json', '--no-wait', '--json');
  expect([next.status, json(next.stdout)]).toMatchObject([0, { status: 'success', json: { loud: 'ABC' } }]);
  expect(rig.counts()).toEqual({ plan: 2, shout: 1 });
});
