import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { phaseOf } from '../support/rig.js';
import { createPlanRig, EXAMPLE, GOOD, INPUT, OUTPUT, type PlanRig, UNCHECKED, WRONG } from './support.js';

let rig: PlanRig;
beforeEach(() => {
  rig = createPlanRig();
});
afterEach(() => rig.remove());

const SPEC = { task: 'Say a word loudly', input: INPUT, output: OUTPUT, examples: [EXAMPLE] };
const phase = (more: object = {}, spec: object = {}) => ({
  id: 'loud',
  type: 'flow',
  assemble: { ...SPEC, ...spec },
  with: { word: '{args.word}' },
  ...more,
});
const flow = (...phases: object[]) => ({ name: 'outer', args: { word: { default: 'hey' } }, phases });
const afresh = { continuation: { how: 'fresh' } } as const;

describe('a phase whose flow is assembled', () => {
  it('is planned in the first run and taken in the next; what planning cost is in the run', async () => {
    rig.answers(UNCHECKED, GOOD);
    const first = await rig.run(flow(phase({ output: 'json', expect: OUTPUT })));
    expect(first).toMatchObject({ status: 'success', json: { loud: 'HEY' } });
    expect(rig.counts()).toEqual({ plan: 2, shout: 2 });
    expect(first.spent.usd).toBeCloseTo(0.04);
    rig.forget();
    const second = await rig.run(undefined, { ...afresh, args: { word: 'you' } });
    expect(second).toMatchObject({ status: 'success', json: { loud: 'YOU' } });
    expect(rig.counts()).toEqual({ shout: 1 });
    expect(second.spent.usd).toBeCloseTo(0.01);
  });

  it('and the command take the same plan', async () => {
    rig.answers(GOOD);
    await rig.assemble();
    rig.forget();
    expect((await rig.run(flow(phase()))).status).toBe('success');
    expect(rig.counts()).toEqual({ shout: 1 });
  });

  it('fails where no flow is good, plans nothing in the next run, and says what to do', async () => {
    rig.answers(WRONG);
    const first = await rig.run(flow(phase({}, { maxRounds: 1 })), afresh);
    expect(phaseOf(first, 'loud').error).toMatchObject({
      code: 'bad-flow',
      message: expect.stringContaining('no flow was assembled: the example 1 failed'),
    });
    rig.forget();
    expect((await rig.run(undefined, afresh)).status).toBe('failed');
    expect(rig.counts()).toEqual({});
  });

  it('spends no more than the run may', async () => {
    rig.answers({ says: WRONG, usd: 0.4 });
    const result = await rig.run({ ...flow(phase()), budget: { maxUSD: 0.5 } });
    expect(result.status).not.toBe('success');
    expect(rig.counts()).toEqual({ plan: 2, shout: 1 });
  });

  it('is held to the limits of generated flows', async () => {
    rig.answers({ phases: [{ id: 'x', type: 'script', run: 'touch ran' }] });
    const result = await rig.run(flow(phase({}, { maxRounds: 1 })));
    expect(phaseOf(result, 'loud').error?.message).toContain('may not have script phases');
  });

  it('a dry run says what it would do, and asks nobody', async () => {
    rig.answers(GOOD);
    rig.write('flow.json', JSON.stringify(flow(phase())));
    const dry = async () => {
      const { stdout } = await rig.taskflow('run', './flow.json', '--dry-run', '--json');
      return (JSON.parse(stdout) as { phases: { would: string; reason: string }[] }).phases[0];
    };
    expect(await dry()).toMatchObject({ would: 'run', reason: 'a flow would be planned first' });
    expect(rig.counts()).toEqual({});
    await rig.run();
    rig.forget();
    expect(await dry()).toMatchObject({ would: 'run', reason: expect.not.stringContaining('planned') });
    expect(rig.counts()).toEqual({});
  });

  it('an example that does not fit is one clear failure, and nobody is asked', async () => {
    rig.answers(GOOD);
    const result = await rig.run(flow(phase({}, { examples: [{ input: { word: 1 }, output: { loud: 'X' } }] })));
    expect(phaseOf(result, 'loud').error?.message).toContain('the input of the example 1 does not fit its schema');
    expect(rig.counts()).toEqual({});
  });
});

describe('check', () => {
  const problems = async (one: object) => {
    rig.write('flow.json', JSON.stringify(flow(one)));
    const { stdout } = await rig.taskflow('check', './flow.json', '--json');
    return (JSON.parse(stdout) as { message: string }[]).map(({ message }) => message);
  };

  it.each<[string, object, string]>([
    ['a bad schema', phase({}, { output: { type: 'objekt' } }), '"objekt" is no type of JSON Schema'],
    ['an input that is no object', phase({}, { input: { type: 'string' } }), 'has to describe an object'],
    ['a value that the input does not have', phase({ with: { word: 'x', wort: 'y' } }), 'has no property "wort"'],
    ['a value that is missing', phase({ with: {} }), 'the input of "assemble" needs "word"'],
    ['a placeholder in the task', phase({}, { task: 'Say {args.word}' }), 'placeholders do not work in'],
    ['two sources', phase({ use: 'x' }), 'has both "use" and "assemble"'],
    ['no task', phase({}, { task: undefined }), 'task'],
  ])('%s', async (_what, one, message) => {
    expect((await problems(one)).join('\n')).toContain(message);
  });

  it('a good one has none, and its kind need not be written twice', async () => {
    expect(await problems(phase())).toEqual([]);
  });
});
