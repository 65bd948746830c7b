import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlow } from '../../src/index.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const grow = (def: object | string, more: object = {}) => ({
  id: 'grow',
  type: 'expand',
  expandMode: 'graft',
  def,
  ...more,
});
const reading = (name: string, more: object = {}) => ({
  id: 'end',
  type: 'script',
  run: ['bin/tick', 'end', `{steps.${name}.output}`],
  ...more,
});
const flow = (...phases: object[]) => ({ name: 'grafts', phases });
const messages = async (...phases: object[]) => {
  rig.write('flow.json', JSON.stringify(flow(...phases)));
  return (await checkFlow(rig.project, './flow.json')).diagnostics.map(({ message, hint }) => `${message} (${hint})`);
};

describe('a phase of a graft', () => {
  const leaves = [ticking('leaf'), ticking('tip', {}, 'over {steps.leaf.output}')];

  it('is read by its prefixed id, and whoever reads it waits for the graft', async () => {
    const result = await rig.run(flow(reading('grow-leaf'), grow(leaves)));
    expect(phaseOf(result, 'end').output).toBe('said leaf');
    expect(rig.executions()).toEqual(['leaf', 'tip', 'end']);
  });

  it('is read where the fragment was made at run time', async () => {
    const plan = {
      id: 'plan',
      type: 'script',
      run: ['printf', '[{"id": "leaf", "task": "SAY: green"}]'],
      output: 'json',
    };
    const result = await rig.run(flow(plan, grow('{steps.plan.json}'), reading('grow-leaf')));
    expect(result.output).toBe('green');
  });

  it('can be waited for and reduced', async () => {
    const reduce = { id: 'sum', type: 'reduce', from: ['grow-leaf', 'grow-tip'], task: 'SAY: sum' };
    const result = await rig.run(flow(grow(leaves), reduce, ticking('late', { dependsOn: ['grow-tip'] })));
    expect(result.status).toBe('success');
    expect(rig.executions().slice(0, 2)).toEqual(['leaf', 'tip']);
  });

  it('is read as it is when the run is continued, and when the graft might be reused as a whole', async () => {
    const cross = { cache: { scope: 'cross-run', fingerprint: [] } };
    const failing = { id: 'z', type: 'script', run: 'exit 1', dependsOn: ['grow'] };
    await rig.run(flow(grow(leaves), failing));
    const continued = await rig.run(flow(grow(leaves), reading('grow-tip')));
    expect(continued.output).toBe('over said leaf');
    expect(rig.counts()).toEqual({ leaf: 1, tip: 1, end: 1 });
    const reused = flow(grow(leaves, cross), reading('grow-tip', { cache: false }));
    await rig.run(reused, { continuation: { how: 'fresh' } });
    const again = await rig.run(reused, { continuation: { how: 'fresh' } });
    expect(again.output).toBe('over said leaf');
  });

  it('that a written fragment does not have is an error with the nearest name', async () => {
    expect(await messages(grow(leaves), reading('grow-laef'))).toEqual([
      'there is no phase "grow-laef" (did you mean "grow-leaf"?)',
    ]);
    expect(await messages(grow(leaves), ticking('late', { dependsOn: ['grow-xx'] }))).toMatchObject([
      expect.stringContaining('there is no phase "grow-xx"'),
    ]);
    expect(await messages({ ...grow(leaves), expandMode: 'nested' }, reading('grow-leaf'))).toMatchObject([
      expect.stringContaining('there is no phase "grow-leaf"'),
    ]);
  });

  it('that a generated fragment does not have is said, and nothing of it is kept', async () => {
    const plan = {
      id: 'plan',
      type: 'script',
      run: ['printf', '[{"id": "leaf", "task": "SAY: green"}]'],
      output: 'json',
    };
    const result = await rig.run(flow(plan, grow('{steps.plan.json}'), reading('grow-other')));
    expect(result.output).toBe('{steps.grow-other.output}');
  });
});
