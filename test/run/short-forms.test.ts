import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlow, loadFlow } from '../../src/index.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const messages = async (flow: object) => {
  rig.write('flow.json', JSON.stringify(flow));
  return (await checkFlow(rig.project, './flow.json')).diagnostics.map(
    ({ severity, message }) => `${severity}: ${message}`,
  );
};

describe('cache: false', () => {
  it('runs a phase each time, also where a run is continued', async () => {
    const flow = (more: object) => ({
      name: 'f',
      ...more,
      phases: [
        ticking('a', { cache: false }),
        ticking('b'),
        { id: 'z', type: 'script', run: 'exit 1', dependsOn: ['a', 'b'] },
      ],
    });
    await rig.run(flow({}));
    await rig.run(flow({}));
    expect(rig.counts()).toEqual({ a: 2, b: 1 });
  });

  it('holds for all phases as a default, and a phase may say otherwise', async () => {
    const cross = ticking('b', { cache: { scope: 'cross-run', fingerprint: [] } });
    const flow = { name: 'f', defaults: { cache: false }, phases: [ticking('a'), cross] };
    await rig.run(flow);
    const again = await rig.run(flow, { continuation: { how: 'fresh' } });
    expect(phaseOf(again, 'b').cacheHit).toBe('cross-run');
    const loaded = await loadFlow(rig.project, './flow.json');
    expect(loaded.flow.phases.map(({ cache }) => cache.scope)).toEqual(['off', 'cross-run']);
  });

  it('has no opposite', async () => {
    expect(await messages({ name: 'f', phases: [ticking('a', { cache: true })] })).toEqual([
      'error: "cache" has to be false, not true',
    ]);
  });
});

describe('idleTimeout: 0', () => {
  it('lets an agent be silent for longer than the flow allows', async () => {
    rig.write('bin/agent', '#!/bin/sh\ncat > /dev/null\nsleep 0.5\necho late\n', 0o755);
    const flow = (more: object) => ({ name: 'f', idleTimeout: 100, phases: [{ id: 'a', task: 'x', ...more }] });
    expect((await rig.run(flow({ retry: { max: 0 } }))).error?.code).toBe('idle-timeout');
    expect(await rig.run(flow({ idleTimeout: 0 }))).toMatchObject({ status: 'success', output: 'late' });
  });
});

describe('fields that nothing here acts on yet', () => {
  it('are accepted with a warning each, on the flow, a phase and a branch', async () => {
    const branches = [{ task: 'x', effects: ['read'] }];
    const given = await messages({
      name: 'f',
      contextSharing: true,
      effects: { writes: ['src'] },
      phases: [{ id: 'a', type: 'parallel', branches, shareContext: true, effects: [] }],
    });
    expect(given).toEqual([
      'warning: "contextSharing" is accepted but does nothing here',
      'warning: "effects" is accepted but does nothing here',
      'warning: "effects" means nothing on a branch',
      'warning: "shareContext" is accepted but does nothing here',
      'warning: "effects" is accepted but does nothing here',
    ]);
  });

  it('are checked: a hook that there is not is an error with the nearest one', async () => {
    expect(await messages({ name: 'f', hooks: { onFinish: ['x'] }, phases: [ticking('a')] })).toEqual([
      'error: "hooks" has no field "onFinish"',
    ]);
  });
});
