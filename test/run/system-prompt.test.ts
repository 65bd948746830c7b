import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENT_FIELDS } from '../../src/model/schema/fields.js';
import { BRANCH_FIELDS, Judge } from '../../src/model/schema/parts.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
/** The agent says what it was told to be; a judge says its verdict too. */
beforeEach(() => {
  rig = createRig();
  rig.write(
    'bin/agent',
    '#!/bin/sh\nprompt=$(cat)\nname=$(printf "%s\\n" "$prompt" | sed -n "s/^NAME: //p")\n' +
      'bin/tick "${name:-agent}" "<$TASKFLOW_SYSTEM_PROMPT>"\nprintf "%s\\n" "$prompt" | sed -n "s/^SAY: //p"\n',
    0o755,
  );
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'system', ...more, phases });
const cross = { scope: 'cross-run', fingerprint: [] };
const toned = (tone: string) => ticking('tone', {}, tone);

describe('placeholders in a system prompt have values', () => {
  it('of arguments and phases, and what it mentions runs first', async () => {
    const asks = { id: 'x', task: 'Go.', systemPrompt: 'Be {steps.tone.output} to {args.who}; {{steps.x}} {"a": 1}' };
    const result = await rig.run(flow([asks, toned('kind')], { args: { who: { default: 'all' } } }));
    expect(phaseOf(result, 'x').output).toBe('<Be kind to all; {steps.x} {"a": 1}>');
  });

  it('of the short form of a flow', async () => {
    const short = { name: 's', args: { who: { default: 'all' } }, task: 'Go.', systemPrompt: 'Greet {args.who}' };
    expect((await rig.run(short)).output).toBe('<Greet all>');
  });

  it('of each item of a map', async () => {
    const map = { id: 'm', type: 'map', over: ['a', 'b'], task: 'Go.', systemPrompt: 'You are {item}' };
    const result = await rig.run(flow([map]));
    expect(phaseOf(result, 'm').json).toEqual(['<You are a>', '<You are b>']);
  });

  it('of each iteration of a loop', async () => {
    const loop = {
      id: 'l',
      type: 'loop',
      task: 'Go.',
      systemPrompt: '{loop.iteration}{steps.l.output}',
      maxIterations: 3,
    };
    expect((await rig.run(flow([loop]))).output).toBe('<3<2<1>>>');
  });

  it('in branches, and in the words of their phase', async () => {
    const branches = [{ task: 'Go.' }, { task: 'Go.', systemPrompt: 'Own {steps.tone.output}' }];
    const both = { id: 'p', type: 'parallel', systemPrompt: 'Shared {steps.tone.output}', branches };
    const result = await rig.run(flow([toned('kind'), both]));
    expect(Object.values(phaseOf(result, 'p').json as object)).toEqual(['<Shared kind>', '<Own kind>']);
  });

  it('for judges', async () => {
    const judged = { id: 'g', type: 'gate', task: 'SAY: VERDICT: PASS', systemPrompt: 'Be {steps.tone.output}' };
    expect(phaseOf(await rig.run(flow([toned('strict'), judged])), 'g').output).toContain('<Be strict>');
  });

  it('but not those of an agent file, whose text is nobody’s template', async () => {
    rig.write('.pi/agents/helper.md', '---\nname: helper\ndescription: x\n---\nSay {args.who}.\n');
    const asks = { id: 'x', agent: 'helper', task: 'Go.', systemPrompt: 'To {args.who}' };
    const result = await rig.run(flow([asks], { args: { who: { default: 'all' } } }));
    expect(result.output).toBe('<Say {args.who}.\n\nTo all>');
  });
});

it('it is added to that of the agent file, and the schema says so', async () => {
  rig.write('.pi/agents/helper.md', '---\nname: helper\ndescription: x\n---\nYou help.\n');
  const branches = [{ task: 'Go.' }, { task: 'Go.', systemPrompt: 'Be loud.' }];
  const both = { id: 'p', type: 'parallel', agent: 'helper', systemPrompt: 'Be brief.', branches };
  expect(Object.values(phaseOf(await rig.run(flow([both])), 'p').json as object)).toEqual([
    '<You help.\n\nBe brief.>',
    '<You help.\n\nBe loud.>',
  ]);
  for (const { systemPrompt } of [AGENT_FIELDS, BRANCH_FIELDS, Judge.properties]) {
    expect(systemPrompt['description']).toMatch(/added after that of the agent file/i);
  }
});

it('a placeholder without a value there is told, and the result is not kept', async () => {
  const asks = { id: 'x', task: 'Go.', systemPrompt: 'Be {steps.tone.json.no.such}', cache: cross };
  const phases = [ticking('tone', { output: 'json' }, '{"a": 1}'), asks];
  const result = await rig.run(flow(phases));
  expect(phaseOf(result, 'x').remark).toContain('no value for {steps.tone.json.no.such}');
  const strict = await rig.run(flow(phases, { strictInterpolation: true }));
  expect(strict.error).toMatchObject({ phase: 'x', code: 'unresolved' });
});

describe('what it comes to decides the key', () => {
  it.each([
    ['agent', { id: 'x', task: 'NAME: x' }],
    ['map', { id: 'x', type: 'map', over: ['i'], task: 'NAME: x' }],
    ['loop', { id: 'x', type: 'loop', task: 'NAME: x', maxIterations: 1 }],
    ['tournament', { id: 'x', type: 'tournament', task: 'NAME: x', variants: 2, judge: 'SAY: WINNER: 1' }],
    ['race', { id: 'x', type: 'race', branches: [{ task: 'NAME: x' }, { run: 'sleep 30' }] }],
  ])('of %s', async (_kind, phase) => {
    const asks = { ...phase, systemPrompt: 'Be {steps.tone.output}', cache: cross };
    await rig.run(flow([toned('kind'), asks]));
    const { x: once = 0 } = rig.counts();
    const again = await rig.run(flow([toned('kind'), asks]));
    expect(phaseOf(again, 'x').cacheHit).toBe('cross-run');
    const changed = await rig.run(flow([toned('strict'), asks]));
    expect(phaseOf(changed, 'x')).toMatchObject({ cacheHit: null });
    expect(phaseOf(changed, 'x').output).toContain('<Be strict>');
    expect(rig.counts()).toMatchObject({ x: 2 * once });
  });

  it('of a loop also by what later iterations are told', async () => {
    const loop = (systemPrompt: string) =>
      flow([{ id: 'l', type: 'loop', task: 'Go.', systemPrompt, maxIterations: 2, convergence: false, cache: cross }]);
    expect((await rig.run(loop('round {loop.iteration}'))).output).toBe('<round 2>');
    expect((await rig.run(loop('round 1'))).output).toBe('<round 1>');
  });

  it('of a nested flow by its arguments', async () => {
    const inner = { args: { tone: {} }, phases: [{ id: 'y', task: 'NAME: y', systemPrompt: 'Be {args.tone}' }] };
    const outer = (tone: string) => flow([{ id: 'f', type: 'flow', def: inner, with: { tone }, cache: cross }]);
    expect((await rig.run(outer('kind'))).output).toBe('<Be kind>');
    expect((await rig.run(outer('strict'))).output).toBe('<Be strict>');
    expect(phaseOf(await rig.run(outer('kind')), 'f').cacheHit).toBe('cross-run');
    expect(rig.counts()).toEqual({ y: 2 });
  });

  it.each([
    ['its system prompt', { task: 'NAME: g\nSAY: VERDICT: PASS', systemPrompt: 'Be {steps.tone.output}' }],
    [
      'what its scoring judge is asked',
      {
        score: {
          target: 'x',
          scorers: [{ type: 'contains', value: 'x' }],
          judge: { task: 'NAME: g\nSAY: VERDICT: PASS\n{steps.tone.output}' },
        },
      },
    ],
  ])('of a gate whose run is resumed, by %s', async (_what, how) => {
    const phases = (tone: string) => flow([toned(tone), { id: 'g', type: 'gate', ...how }, failing]);
    const failing = { id: 'z', type: 'script', run: 'exit 1', dependsOn: ['g'] };
    const { runId } = await rig.run(phases('kind'));
    const same = await rig.run(undefined, { continuation: { how: 'resume', runId } });
    expect(rig.counts()).toMatchObject({ g: 1 });
    await rig.run(phases('strict'), { continuation: { how: 'resume', runId: same.runId } });
    expect(rig.counts()).toMatchObject({ g: 2 });
  });
});

it('one that no variable can hold goes before the task', async () => {
  const long = { id: 'long', type: 'script', run: 'head -c 200000 /dev/zero | tr "\\0" x' };
  const asks = { id: 'x', task: 'SAY: done', systemPrompt: '{steps.long.output}' };
  expect((await rig.run(flow([long, asks]))).output).toBe('<>\ndone');
});
