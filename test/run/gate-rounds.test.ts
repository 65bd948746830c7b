import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'rounds', ...more, phases });
/** Says `bad` the first time and `good` from then on. */
const learns = (id: string, more: object = {}) => ({
  id,
  type: 'script',
  run: `bin/tick ${id} > /dev/null; test -e ../seen-${id} && echo good || { touch ../seen-${id}; echo bad; }`,
  ...more,
});
const gate = (more: object = {}) => ({
  id: 'g',
  type: 'gate',
  eval: ['{steps.a.output} == good'],
  onBlock: 'retry',
  ...more,
});

describe('a gate that sends back what it judges', () => {
  it('leaves out what was skipped by its own condition', async () => {
    const result = await rig.run(
      flow([
        learns('a'),
        ticking('no', { when: '1 == 2' }),
        gate({ dependsOn: ['no'] }),
        ticking('b', { dependsOn: ['g'] }),
      ]),
    );
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ a: 2, b: 1 });
    expect(phaseOf(result, 'no').status).toBe('skipped');
  });

  it('goes on although an optional one fails again', async () => {
    const shaky = { id: 'o', type: 'script', run: 'bin/tick o; exit 1', optional: true };
    const result = await rig.run(flow([learns('a'), shaky, gate({ dependsOn: ['o'] })]));
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ a: 2, o: 2 });
  });

  it('never repeats a side effect: it blocks', async () => {
    const result = await rig.run(flow([learns('a', { idempotent: false }), gate({ retry: { max: 3 } })]));
    expect(result.status).toBe('blocked');
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('never repeats a side effect inside of a nested flow, and says why it was not sent back', async () => {
    const inside = [learns('write'), ticking('post', { dependsOn: ['write'], idempotent: false }, 'bad')];
    rig.write('sub.json', JSON.stringify({ name: 'sub', phases: inside }));
    for (const nested of [
      { id: 'a', type: 'flow', use: './sub.json' },
      { id: 'a', type: 'map', over: [1], use: './sub.json' },
    ]) {
      rig.forget();
      const result = await rig.run(flow([nested, gate({ retry: { max: 3 } })], { name: nested.type }));
      expect(result.status).toBe('blocked');
      expect(result.error?.hint).toContain('a was not sent back');
      expect(rig.counts()).toEqual({ write: 1, post: 1 });
    }
  });

  it('leaves a side effect done that it rejected: a run that continues does not repeat it', async () => {
    const direct = flow([ticking('a', { idempotent: false }, 'bad'), gate()]);
    expect((await rig.run(direct)).status).toBe('blocked');
    expect((await rig.run(direct)).status).toBe('blocked');
    expect(rig.counts()).toEqual({ a: 1 });
    rig.forget();
    const def = { phases: [ticking('write'), ticking('post', { dependsOn: ['write'], idempotent: false }, 'bad')] };
    const nested = flow([{ id: 'a', type: 'flow', def }, gate()], { name: 'nested' });
    expect((await rig.run(nested)).status).toBe('blocked');
    expect((await rig.run(nested)).status).toBe('blocked');
    expect(rig.counts()).toEqual({ write: 2, post: 1 });
  });

  it('sends back at most so often, says how often, and keeps nothing of what it rejected', async () => {
    const always = { id: 'a', type: 'script', run: 'bin/tick a > /dev/null; echo bad', cache: { scope: 'cross-run' } };
    const result = await rig.run(flow([always, gate({ retry: { max: 2 } })]));
    expect(result.error?.message).toContain('after 3 rounds');
    expect(rig.counts()).toEqual({ a: 3 });
    await rig.run(flow([always]), { continuation: { how: 'fresh' } });
    expect(rig.counts()).toEqual({ a: 4 });
  });

  it('tells the phase why, in {reflexion}', async () => {
    const writer = { id: 'a', type: 'agent', task: 'NAME: writer\nSAY: {reflexion}' };
    const judge = {
      id: 'g',
      type: 'gate',
      dependsOn: ['a'],
      task: 'NAME: judge\nSAY: VERDICT: BLOCK too dry',
      onBlock: 'retry',
    };
    const result = await rig.run(flow([{ ...writer, task: 'NAME: writer\nSAY: draft\nbecause: {reflexion}' }, judge]));
    expect(result.status).toBe('blocked');
    expect(rig.counts()).toEqual({ writer: 2, judge: 2 });
    const { traceRun } = await import('../../src/run/history/trace.js');
    const trace = traceRun(rig.project, result.runId)?.phases.find(({ phase }) => phase === 'a');
    expect(JSON.stringify(trace?.result?.inputs)).toContain('too dry');
  });
});
