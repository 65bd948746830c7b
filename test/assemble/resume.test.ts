import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../support/processes.js';
import { createPlanRig, GOOD, type PlanRig } from './support.js';

let rig: PlanRig;
beforeEach(() => {
  rig = createPlanRig();
});
afterEach(() => rig.remove());

const TWO_STEPS = {
  phases: [
    { id: 'first', task: 'NAME: first\nSAY: {"ok":true}', output: 'json' },
    { ...GOOD.phases[0], task: `NAME: slow\n{args.pace}\n${GOOD.phases[0]!.task}`, dependsOn: ['first'] },
  ],
};
const INPUT = { type: 'object', properties: { word: { type: 'string' }, pace: { type: 'string' } } };
const RUN = ['--run', '--yes', '-a', 'word=abc', '-a', 'pace=SLEEP', '--json'];

beforeEach(() => {
  rig.write('in.json', JSON.stringify(INPUT));
  rig.write('case1.json', JSON.stringify({ input: { word: 'abc', pace: 'now' }, output: { loud: 'ABC' } }));
  rig.answers(TWO_STEPS);
});

it.each(['SIGKILL', 'SIGINT'] as const)('a run of `assemble --run` that got %s is resumed', async (signal) => {
  const live = rig.spawnAssemble(...RUN);
  // Once when the flow was tried, and now in the run, where it sleeps.
  await until(() => rig.counts()['slow'] === 2, 60_000);
  live.kill(signal);
  await live.done;
  rig.wake();
  const resumed = await rig.taskflow('resume', 'last', '--json');
  expect([resumed.status, resumed.stderr]).toEqual([0, expect.any(String)]);
  expect(JSON.parse(resumed.stdout)).toMatchObject({ status: 'success', json: { loud: 'ABC' } });
  // What was done is kept, and nothing is planned again.
  expect(rig.counts()).toEqual({ plan: 1, first: 2, slow: 3 });
});
