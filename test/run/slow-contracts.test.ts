import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunResult } from '../../src/run/core/result.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const SLOW = '^(a+)+$';
const NEARLY = `${'a'.repeat(40)}b`;
const flow = (phases: object[]) => ({ name: 'slow', phases });

/** What would take years ends within a second or two, on a busy machine too. */
async function soon(phases: object[]): Promise<RunResult> {
  const startedAt = Date.now();
  const result = await rig.run(flow(phases));
  expect(Date.now() - startedAt).toBeLessThan(5_000);
  return result;
}

/** Each refers twice to the next one: checked under the bound of the checker, and still far too many for the value. */
function doubling(levels: number): object {
  const refs = (n: number) => [{ $ref: `#/$defs/d${n}` }, { $ref: `#/$defs/d${n}` }];
  const $defs: Record<string, object> = { [`d${levels}`]: { type: 'integer' } };
  for (let n = 0; n < levels; n++) $defs[`d${n}`] = { allOf: refs(n + 1) };
  return { items: { allOf: refs(0) }, $defs };
}

describe('a contract that takes too long to check', () => {
  it('a slow pattern in `expect` fails the phase and is named', async () => {
    const result = await soon([ticking('a', { expect: { type: 'string', pattern: SLOW } }, NEARLY)]);
    expect(phaseOf(result, 'a').error).toMatchObject({
      code: 'limit',
      message: expect.stringContaining(`/${SLOW}/`),
    });
  });

  it('references that multiply are broken off', async () => {
    const list = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => n));
    const result = await soon([ticking('a', { output: 'json', expect: doubling(13) }, list)]);
    expect(phaseOf(result, 'a').error).toMatchObject({ code: 'limit', message: expect.stringContaining('schema') });
  });

  it('a large output is given the time that its size needs', async () => {
    const items = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
    const list = JSON.stringify(
      Array.from({ length: 60_000 }, (_, id) => ({ id, name: `the item with number ${id}` })),
    );
    rig.write('list.json', list);
    const read = {
      id: 'a',
      type: 'script',
      run: ['cat', 'list.json'],
      output: 'json',
      expect: { type: 'array', items },
    };
    expect((await rig.run(flow([read]))).status).toBe('success');
  });

  it('has no answer in a gate either, negated or not', async () => {
    const scorers = [
      { type: 'regex', pattern: SLOW, negate: true },
      { type: 'json-schema', schema: { pattern: SLOW }, negate: true },
    ];
    for (const scorer of scorers) {
      const target = JSON.stringify(NEARLY);
      const asked = scorer.type === 'regex' ? NEARLY : target;
      const gate = { id: 'g', type: 'gate', score: { target: '{steps.a.output}', scorers: [scorer] } };
      const result = await soon([ticking('a', {}, asked), gate]);
      expect([result.status, phaseOf(result, 'g').error?.message]).toEqual([
        'blocked',
        expect.stringContaining('took longer'),
      ]);
    }
  });

  it('all patterns of one condition have the time of one', async () => {
    const part = `!({steps.a.output} matches /^(a+){12,}$/)`;
    const when = Array.from({ length: 60 }, () => part).join(' && ');
    const result = await soon([ticking('a', {}, `${'a'.repeat(26)}b`), ticking('b', { when })]);
    expect(phaseOf(result, 'b').error?.message).toMatch(/took longer than 250 ms/);
  });

  it('a match at the end of a long text is found', async () => {
    rig.write('long.txt', `${'x'.repeat(1_500_000)} the end`);
    const phases = [
      { id: 'a', type: 'script', run: ['cat', 'long.txt'] },
      ticking('b', { when: '{steps.a.output} matches /the end$/' }),
    ];
    expect(phaseOf(await rig.run(flow(phases)), 'b').status).toBe('done');
  });
});
