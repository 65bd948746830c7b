import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
  rig.write('.pi/taskflows/config.yaml', `${rig.read('.pi/taskflows/config.yaml')}limits: { items: 5 }\n`);
});
afterEach(() => rig.remove());

const flow = (over: unknown, more: object[] = []) => ({
  name: 'items',
  phases: [...more, { id: 'm', type: 'map', over, run: ['bin/tick', '{item}'] }],
});

it.each([
  ['a list', [1, 2, 3, 4, 5, 6], []],
  ['lines', '{steps.list.output}', [{ id: 'list', type: 'script', run: ['seq', '1', '6'] }]],
  ['JSON', '{steps.list.json}', [ticking('list', { output: 'json' }, '[1,2,3,4,5,6]')]],
])('a map over more items than the settings allow fails before the first: %s', async (_what, over, more) => {
  const result = await rig.run(flow(over, more));
  expect(phaseOf(result, 'm').error).toMatchObject({
    code: 'limit',
    message: '`over` has more than 5 items',
    hint: expect.stringContaining('limits.items'),
  });
  expect(rig.executions().filter((name) => name !== 'list')).toEqual([]);
});

it('as many as are allowed run, from lines with either line end and blank ones between', async () => {
  const list = { id: 'list', type: 'script', run: ['printf', 'a\\r\\n\\n  \\nb\\n c \\r\\nd\\ne\\r'] };
  const result = await rig.run(flow('{steps.list.output}', [list]));
  expect(result.status).toBe('success');
  expect(rig.executions().sort()).toEqual([' c ', 'a', 'b', 'd', 'e']);
});
