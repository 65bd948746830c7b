import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlow } from '../../src/index.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
  rig.write('which', 'one/');
  rig.write('one/a.txt', '1');
  rig.write('two/a.txt', '2');
});
afterEach(() => rig.remove());

/** Says which folder is meant; everything else waits for it, though it stands after them. */
const which = (more: object) => ({ id: 'which', type: 'script', run: ['cat', 'which'], ...more });
const flow = (defaults: object, phases: object[]) => ({ name: 'defaulted', defaults, phases });

describe('a phase that the defaults mention is waited for by all that have them', () => {
  it('in a fingerprint, so that nothing is reused whose inputs changed', async () => {
    const cache = { scope: 'cross-run', fingerprint: ['glob:{steps.which.output}*.txt'] };
    const phases = [ticking('b'), which({ cache: { scope: 'off', fingerprint: [] } })];
    const b = async () => phaseOf(await rig.run(flow({ cache }, phases)), 'b').cacheHit;
    expect([await b(), await b()]).toEqual([null, 'cross-run']);
    rig.write('one/a.txt', 'edited');
    expect([await b(), await b()]).toEqual([null, 'cross-run']);
    rig.write('which', 'two/');
    expect([await b(), await b()]).toEqual([null, 'cross-run']);
    expect(rig.counts()).toEqual({ b: 3 });
  });

  it('in the folder', async () => {
    const phases = [{ id: 'b', type: 'script', run: ['cat', 'a.txt'] }, which({ cwd: '.' })];
    expect(phaseOf(await rig.run(flow({ cwd: '{steps.which.output}' }, phases)), 'b').output).toBe('1');
  });

  it('and has to have its own', async () => {
    const fingerprint = ['file:{steps.which.output}a.txt'];
    rig.write('flow.json', JSON.stringify(flow({ cwd: '{steps.which.output}', cache: { fingerprint } }, [which({})])));
    const { diagnostics } = await checkFlow(rig.project, './flow.json');
    expect(diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
      ['self-reference', 'give "which" a "cwd" of its own'],
      ['self-reference', 'give "which" a "fingerprint" of its own'],
    ]);
  });
});
