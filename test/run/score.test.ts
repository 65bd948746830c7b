import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFlow } from '../../src/index.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'scored', ...more, phases });
const gate = (scorer: object, more: object = {}) => ({
  id: 'g',
  type: 'gate',
  score: { target: '{steps.said.output}', scorers: [scorer], ...more },
});
const said = (text: string) => ticking('said', {}, text);
const wanted = (text: string, more: object = {}) => ticking('wanted', more, text);

describe('placeholders in what a scorer compares with have values', () => {
  it.each([
    ['a text that is the same', 'exact-match', '{steps.wanted.output}', 'yes', 'yes', 'success'],
    ['a text that is another', 'exact-match', '{steps.wanted.output}', 'yes', 'no', 'blocked'],
    [
      'JSON that is the same',
      'exact-match',
      '{steps.wanted.json}',
      '{"a":1,"b":[2]}',
      '{ "b": [2], "a": 1 }',
      'success',
    ],
    ['a number', 'exact-match', '{steps.wanted.json.b.0}', '{"b":[2]}', '2', 'success'],
    ['inside of JSON', 'exact-match', { n: '{steps.wanted.json.n}' }, '{"n":2}', '{"n": 2}', 'success'],
    ['a part', 'contains', 'v{steps.wanted.json.n}', '{"n":2}', 'this is v2 of it', 'success'],
    ['a part that is missing', 'contains', 'v{steps.wanted.json.n}', '{"n":2}', 'this is v3 of it', 'blocked'],
    ['the text of a placeholder', 'contains', '{{steps.wanted.output}}', 'x', 'a {{steps.wanted.output}} b', 'success'],
  ])('%s', async (_what, type, value, want, say, status) => {
    const phases = [gate({ type, value }), wanted(want), said(say)];
    expect((await rig.run(flow(phases))).status).toBe(status);
  });

  it('and what is mentioned there runs first, or is an error where it does not exist', async () => {
    const scorer = { type: 'contains', value: '{steps.wanted.output}' };
    const result = await rig.run(flow([gate(scorer), wanted('a'), said('abc')]));
    expect(result.status).toBe('success');
    rig.write('bad.json', JSON.stringify(flow([gate(scorer), said('abc')])));
    const { diagnostics } = await checkFlow(rig.project, './bad.json');
    expect(diagnostics.map(({ code }) => code)).toContain('unknown-step');
  });

  it('and decide whether a resumed run judges again', async () => {
    const exactly = gate({ type: 'exact-match', value: '{steps.wanted.output}' });
    const failing = { id: 'z', type: 'script', run: 'exit 1', dependsOn: ['g'] };
    const phases = (want: string) => [wanted(want), said('abc'), exactly, failing];
    const { runId } = await rig.run(flow(phases('abc')));
    const same = await rig.run(undefined, { continuation: { how: 'resume', runId } });
    expect(phaseOf(same, 'g')).toMatchObject({ status: 'done', cacheHit: 'run' });
    const other = await rig.run(flow(phases('y')), { continuation: { how: 'resume', runId: same.runId } });
    expect(phaseOf(other, 'g').status).toBe('blocked');
  });
});

describe('what has no value has not passed', () => {
  const missing = [
    ['compared with', gate({ type: 'contains', value: '{steps.wanted.json.no}', negate: true })],
    ['scored', { ...gate({ type: 'contains', value: 'x', negate: true }, { target: '{steps.wanted.json.no}' }) }],
  ] as const;

  it.each(missing)('where it is %s, negated or not', async (_what, phase) => {
    const result = await rig.run(flow([wanted('{}', { output: 'json' }), said('abc'), phase]));
    expect(result).toMatchObject({ status: 'blocked', error: { phase: 'g', code: 'blocked' } });
    expect(result.error?.message).toContain('no value for {steps.wanted.json.no}');
  });

  it.each(missing)('and is a failure where it is %s in a strict flow', async (_what, phase) => {
    const strict = { strictInterpolation: true };
    const result = await rig.run(flow([wanted('{}', { output: 'json' }), said('abc'), phase], strict));
    expect(result).toMatchObject({ status: 'failed', error: { phase: 'g', code: 'unresolved' } });
  });
});

it('a pattern is taken as it is written: a placeholder in it is an error, a quoted brace is none', async () => {
  const codes = async (pattern: string) => {
    rig.write('flow.json', JSON.stringify(flow([said('abc'), gate({ type: 'regex', pattern })])));
    return (await checkFlow(rig.project, './flow.json')).diagnostics.map(({ code }) => code);
  };
  expect(await codes('^{steps.said.output}$')).toEqual(['placeholder-here']);
  expect(await codes('a{1,2}|\\{item\\}')).toEqual([]);
});

it('upper and lower case are different unless the scorer says otherwise, as the schema says', async () => {
  const status = async (more: object) =>
    (await rig.run(flow([said('All VERIFIED'), gate({ type: 'contains', value: 'verified', ...more })]))).status;
  expect(await status({})).toBe('blocked');
  expect(await status({ caseSensitive: true })).toBe('blocked');
  expect(await status({ caseSensitive: false })).toBe('success');
});

it('a score that is too low says which tests did not pass', async () => {
  const result = await rig.run(flow([said('abc'), gate({ type: 'contains', value: 'x'.repeat(100), name: 'has-x' })]));
  expect(phaseOf(result, 'g').error?.message).toBe(
    `the score is 0, below 1 (has-x: it does not contain "${'x'.repeat(60)}…")`,
  );
});
