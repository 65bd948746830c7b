import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import { traceRun } from '../../src/run/history/trace.js';
import { createRig, phaseOf, type Rig } from '../support/rig.js';
import { STRACE } from '../support/traced.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig({}, 'auto');
  rig.write('declared.txt', 'a');
  rig.write('other.txt', 'b');
});
afterEach(() => rig.remove());

const reading = (more: object = {}) => ({
  name: 'f',
  phases: [
    {
      id: 'a',
      type: 'script',
      run: 'cat declared.txt other.txt; ls sub; test -e missing; echo x > out.txt',
      outputs: ['out.txt'],
      cache: { scope: 'cross-run', fingerprint: ['file:declared.txt'], ...more },
    },
  ],
});

describe.skipIf(STRACE === undefined)('what was observed is reported', () => {
  it('in the result, the events and the journal, as numbers', async () => {
    rig.write('sub/x', '');
    const events: RunEvent[] = [];
    const result = await rig.run(reading(), { onEvent: (event) => events.push(event) });
    const observed = { complete: true, reads: 2, lists: 1, absent: 1, writes: 1, undeclared: 3 };
    expect(phaseOf(result, 'a').observed).toEqual(observed);
    expect(events.find(({ type }) => type === 'phase-end')).toMatchObject({ outcome: { observed } });
    expect(traceRun(rig.project, result.runId)?.phases[0]?.result).toMatchObject({ observed });
    const again = await rig.run();
    expect(phaseOf(again, 'a')).toMatchObject({ cacheHit: 'cross-run' });
    expect(phaseOf(again, 'a').observed).toBeUndefined();
  });

  it('nothing where it is off', async () => {
    expect(phaseOf(await rig.run(reading({ observe: 'off' })), 'a').observed).toBeUndefined();
  });

  it('the attempts of a phase count together', async () => {
    const script = 'if test -e tried; then cat other.txt; else cat declared.txt; touch tried; exit 1; fi';
    const phase = { id: 'a', type: 'script', run: script, retry: { max: 1, backoffMs: 1 }, outputs: ['tried'] };
    const result = await rig.run({ name: 'f', phases: [{ ...phase, cache: { scope: 'cross-run', fingerprint: [] } }] });
    expect(phaseOf(result, 'a')).toMatchObject({ attempts: 2, observed: { reads: 2, writes: 1, absent: 0 } });
  });
});
