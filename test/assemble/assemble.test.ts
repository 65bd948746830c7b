import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPlanRig, GOOD, type PlanRig, UNCHECKED, WRONG } from './support.js';

let rig: PlanRig;
beforeEach(() => {
  rig = createPlanRig();
});
afterEach(() => rig.remove());

it('bad, worse, good: repaired round by round, kept, and taken the next time', async () => {
  rig.answers(UNCHECKED, WRONG, GOOD);
  const first = await rig.assemble('--json');
  console.log(first.stdout, first.stderr);
  expect(first.status).toBe(0);
  expect(rig.counts()).toEqual({ plan: 3, shout: 2 });
});
