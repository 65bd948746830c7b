import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (...phases: object[]) => ({ name: 'last', phases });

describe('the result of a flow whose final phase was skipped', () => {
  it('is the last one before it that is done, and the run says so', async () => {
    const result = await rig.run(
      flow(
        ticking('a'),
        ticking('b'),
        ticking('no', { when: 'false' }),
        ticking('end', { when: '1 == 2', final: true }),
        ticking('late'),
      ),
    );
    expect(result).toMatchObject({ status: 'success', output: 'said b' });
    expect(result.warnings).toEqual(['end was skipped, so the result is the output of b']);
  });

  it('is so in a nested flow too', async () => {
    const inner = { phases: [ticking('a'), ticking('end', { when: 'false' })] };
    const result = await rig.run(flow({ id: 'in', type: 'flow', def: inner }));
    expect(result.output).toBe('said a');
    expect(result.warnings).toEqual(['in/end was skipped, so the result is the output of in/a']);
  });

  it('is nothing where nothing before it is done, and where it could not run', async () => {
    expect((await rig.run(flow(ticking('end', { when: 'false' })))).output).toBe('');
    const broken = { id: 'broken', type: 'script', run: 'exit 1' };
    const failed = await rig.run(flow(ticking('a'), broken, ticking('end', { dependsOn: ['broken'] })), {
      keepGoing: true,
    });
    expect(failed).toMatchObject({ status: 'failed', output: '' });
    expect(failed.warnings).toBeUndefined();
  });
});
