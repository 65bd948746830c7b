import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.js';
import { phaseOf } from '../support/rig.js';
import { answering, CACHE, createMemoRig, cross, flow, type MemoRig, writeConfig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const usage = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, usd: 0.5 };
const good = { text: 'fine', stopReason: 'complete', model: 'm-1', usage };

/** Runs twice: what is not kept is executed twice, and nothing of it is in the store. */
async function expectNeverKept(phases: object[], executions: Record<string, number>, fresh = true): Promise<void> {
  // A failed run would be continued; `fresh` looks at the store alone.
  const options = fresh ? ({ continuation: { how: 'fresh' } } as const) : {};
  expect(await rig.executed(flow(phases), options)).toEqual(executions);
  expect(await rig.executed(undefined, options)).toEqual(executions);
}

describe('what an agent may not have said', () => {
  it('a clean answer is kept: the other tests of this file could fail', async () => {
    expect(await rig.executed(flow([answering('a', good)]))).toEqual({ a: 1 });
    expect(await rig.executed()).toEqual({});
  });

  it.each([
    ['an empty answer', { ...good, text: '' }],
    ['an answer of blanks', { ...good, text: ' \n\t ' }],
    ['a refusal', { ...good, stopReason: 'refusal' }],
    ['an answer cut by a token limit', { ...good, stopReason: 'length' }],
    ['an error with exit status 0', { ...good, stopReason: 'error' }],
    ['an error field beside a text', { ...good, error: 'overloaded' }],
    ['a cancelled answer', { ...good, stopReason: 'cancelled' }],
    ['a stop reason that nobody knows', { ...good, stopReason: 'paused' }],
    ['an answer without a text', { stopReason: 'complete' }],
  ])('%s is never kept', async (_what, answer) => {
    await expectNeverKept([answering('a', answer, { retry: { max: 0 } })], { a: 1 });
    expect(rig.entries()).toEqual([]);
  });

  it('text that should have been JSON, and JSON that breaks its contract, are never kept', async () => {
    const expected = { type: 'object', required: ['ok'] };
    await expectNeverKept([answering('a', good, { output: 'json' })], { a: 1 });
    const wrong = { ...good, text: '{"no": 1}' };
    await expectNeverKept([answering('a', wrong, { output: 'json', expect: expected })], { a: 1 });
    const short = { type: 'string', minLength: 100 };
    await expectNeverKept([answering('a', good, { expect: short })], { a: 1 });
    expect(rig.entries()).toEqual([]);
  });

  it('garbage around the answer of a program that promised JSON is never kept', async () => {
    const task = 'NAME: a\nANSWER: sorry, something went wrong';
    await expectNeverKept([{ id: 'a', type: 'agent', runner: 'json', task, cache: cross() }], { a: 1 });
    expect(rig.entries()).toEqual([]);
  });

  it('a denied permission: the answer is used, not kept', async () => {
    await expectNeverKept([answering('a', { ...good, permissionDenied: true })], { a: 1 });
    expect(phaseOf(await rig.run(), 'a')).toMatchObject({
      status: 'done',
      remark: 'the agent was denied a permission; not kept',
    });
  });

  it('a denied permission is reported with its tool: of an unkept phase, of an item of a map', async () => {
    const result = { type: 'result', subtype: 'success', result: 'fine', permission_denials: [{ tool_name: 'Bash' }] };
    rig.write('bin/claude', `#!/bin/sh\ncat > /dev/null\necho '${JSON.stringify(result)}'\n`, 0o755);
    writeConfig(rig, '  c: { type: claude, command: [bin/claude] }\n', 'c');
    const phases = [
      { id: 'a', type: 'agent', task: 'do it' },
      { id: 'm', type: 'map', over: ['x', 'y'], task: 'do {item}' },
    ];
    const denied = 'the agent was denied a permission (Bash)';
    const run = await rig.run(flow(phases));
    expect(phaseOf(run, 'a')).toMatchObject({ status: 'done', output: 'fine', remark: denied });
    expect(phaseOf(run, 'm').remark).toBe(`${denied} (2 of 2)`);
    const { stderr } = await runCli(['run', './flow.json'], { cwd: rig.root });
    expect(stderr).toMatch(/✔ a .*the agent was denied a permission \(Bash\)/);
  });
});

describe('another model', () => {
  it.each([
    ['m-1', 'm-2'],
    ['gpt-5', 'gpt-5-mini'],
    ['gpt-5', 'gpt-5.1'],
    ['claude-opus-4', 'claude-opus-4-1-20250805'],
    ['opus', 'claude-sonnet-4-5-20250929'],
    ['qwen3', 'qwen3-coder'],
    ['o1', 'o1-pro'],
  ])('for %s, an answer of %s is not kept', async (asked, answered) => {
    await expectNeverKept([answering('a', { ...good, model: answered }, { model: asked })], { a: 1 });
    expect(phaseOf(await rig.run(), 'a').remark).toContain(`asked for ${asked}, answered by ${answered}`);
  });

  it.each([
    ['sonnet', 'claude-sonnet-4-5-20250929'],
    ['openai/gpt-5', 'gpt-5-2025-08-07'],
    ['gpt-4', 'gpt-4-0613'],
    ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'],
    ['anthropic/claude-sonnet-4-5', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ['qwen3', 'qwen3:latest'],
    ['Gemini-2.5-Pro', 'models/gemini-2.5-pro-001'],
    ['gpt-5-2025-08-07', 'gpt-5'],
  ])('%s and %s are one model under two names', async (asked, answered) => {
    await rig.executed(flow([answering('a', { ...good, model: answered }, { model: asked })]));
    expect(await rig.executed()).toEqual({});
  });
});

describe('scripts', () => {
  it('output that is not JSON, that breaks its contract, or a status other than 0 is never kept', async () => {
    const script = (run: string, more: object = {}) => [{ id: 'a', type: 'script', run, cache: cross(), ...more }];
    await expectNeverKept(script('bin/note a; echo {', { output: 'json' }), { a: 1 });
    await expectNeverKept(script('bin/note a; echo 1', { output: 'json', expect: { type: 'string' } }), { a: 1 });
    await expectNeverKept(script('bin/note a; echo fine; exit 1'), { a: 1 });
    await expectNeverKept(script('bin/note a; echo fine; kill -9 $$'), { a: 1 });
    await expectNeverKept(script('bin/note a; echo fine; sleep 5', { timeout: 200 }), { a: 1 });
    expect(rig.entries()).toEqual([]);
  });

  it('a script that says nothing is a success like any other', async () => {
    await rig.executed(flow([{ id: 'a', type: 'script', run: ['bin/note', 'a'], cache: cross() }]));
    expect(await rig.executed()).toEqual({});
  });
});

describe('placeholders without a value', () => {
  it('are left as text, and the result is not kept', async () => {
    const phases = [
      { id: 'list', type: 'script', run: ['printf', '{"a": 1}'], output: 'json' },
      { id: 'a', type: 'script', run: ['bin/tick', 'a', '{steps.list.json.b}'], cache: cross() },
      { id: 'b', type: 'agent', task: 'NAME: b\nSAY: {steps.list.json.b}', cache: cross() },
    ];
    await expectNeverKept(phases, { a: 1, b: 1 });
    expect(phaseOf(await rig.run(), 'a').remark).toContain('steps.list.json.b');
  });
});

describe('wholes that are made of parts', () => {
  it('a map that a budget stopped half-way keeps the items that were paid for and nothing of the whole', async () => {
    const task = `NAME: {item}\nANSWER: ${JSON.stringify(good)}`;
    const map = { id: 'm', type: 'map', over: ['x', 'y', 'z'], runner: 'json', task, cache: cross() };
    const after = { id: 'after', type: 'script', run: ['bin/tick', 'after', '{steps.m.output}'], cache: cross() };
    const limited = flow([map, after], { budget: { maxUSD: 1 }, concurrency: 1 });
    const options = { continuation: { how: 'fresh' } } as const;
    expect((await rig.run(limited, options)).status).toBe('over-budget');
    expect(rig.counts()).toEqual({ x: 1, y: 1 });
    expect(rig.entries()).toHaveLength(2);
    expect(await rig.executed(undefined, options)).toEqual({ z: 1, after: 1 });
  });

  it('a map with a failed item keeps the others, and runs one item the next time', async () => {
    const run = 'bin/note "$ITEM"; test "$ITEM" != bad || test -e ok';
    const map = { id: 'm', type: 'map', over: ['x', 'bad', 'z'], run, env: { ITEM: '{item}' }, cache: cross() };
    const options = { continuation: { how: 'fresh' } } as const;
    expect(await rig.executed(flow([map]), options)).toEqual({ x: 1, bad: 1, z: 1 });
    rig.write('ok', '');
    expect(await rig.executed(undefined, options)).toEqual({ bad: 1 });
  });

  const fallback = { ...good, model: 'm-2' };
  const say = (name: string, answer: object) => `NAME: ${name}\nANSWER: ${JSON.stringify(answer)}`;

  it('a loop with one iteration of another model is not kept, whichever it was', async () => {
    const task = `NAME: l{loop.iteration}\nANSWER: ${JSON.stringify(good).replace('m-1', 'm-{loop.iteration}')}`;
    const loop = { id: 'l', type: 'loop', runner: 'json', task, convergence: false, cache: cross() };
    await rig.executed(flow([{ ...loop, maxIterations: 2 }]));
    expect(await rig.executed()).toEqual({ l2: 1 });
    const until = '{loop.iteration} == 3';
    const last = task.replace('m-{loop.iteration}', 'm-1').replace('"fine"', '"fine {loop.iteration}"');
    await rig.executed(flow([{ ...loop, task: last, until }]));
    expect(await rig.executed()).toEqual({});
  });

  it('a tournament with a candidate or a judge of another model is not kept', async () => {
    const branches = [
      { id: 'x', task: say('x', good) },
      { id: 'y', task: say('y', fallback) },
    ];
    const judge = say('judge', { ...good, text: 'WINNER: 1' });
    const phase = { id: 't', type: 'tournament', runner: 'json', branches, judge, cache: cross() };
    await rig.executed(flow([phase]));
    expect(await rig.executed()).toEqual({ y: 1 });
    const fair = [branches[0], { id: 'y', task: say('y', good) }];
    const bent = { ...phase, branches: fair, judge: say('judge', { ...fallback, text: 'WINNER: 1' }) };
    await rig.executed(flow([bent]));
    expect(await rig.executed()).toEqual({ judge: 1 });
    await rig.executed(flow([{ ...phase, branches: fair }]));
    expect(await rig.executed()).toEqual({});
  });

  it('a tournament whose judge named no winner, or that lost a candidate, is not kept', async () => {
    const branches = [
      { id: 'x', task: say('x', good) },
      { id: 'y', task: say('y', good) },
    ];
    const vague = say('judge', { ...good, text: 'both are nice' });
    const phase = { id: 't', type: 'tournament', runner: 'json', branches, judge: vague, cache: cross() };
    const keys = async (flowOf: object) => {
      const result = await rig.run(flow([flowOf]));
      return existsSync(join(rig.root, CACHE, `${phaseOf(result, 't').key}.json`));
    };
    expect(await keys(phase)).toBe(false);
    const clear = say('judge', { ...good, text: 'WINNER: 1' });
    expect(await keys({ ...phase, judge: clear })).toBe(true);
    const lost = [...branches, { id: 'z', task: say('z', { ...good, stopReason: 'refusal' }) }];
    expect(await keys({ ...phase, judge: clear, branches: lost })).toBe(false);
  });

  it('a reduced tree with a batch of another model is not kept', async () => {
    rig.write(
      'bin/switch',
      '#!/bin/sh\nprompt=$(cat)\nbin/note r\ncase "$prompt" in *"Input 1"*x1*) m=m-2;; *) m=m-1;; esac\n' +
        'printf \'{"text": "r", "model": "%s"}\' $m\n',
      0o755,
    );
    const runner = '  switch: { command: [bin/switch], format: json, model: m-1 }\n';
    writeConfig(rig, runner);
    const phases = [
      { id: 'm', type: 'map', over: ['x1', 'x2', 'x3', 'x4'], run: ['printf', '%s', '{item}'] },
      {
        id: 'r',
        type: 'reduce',
        from: ['m'],
        runner: 'switch',
        task: 'sum up',
        reduceStrategy: 'tree',
        batchSize: 2,
        cache: cross(),
      },
    ];
    expect(await rig.executed(flow(phases))).toEqual({ r: 3 });
    expect(await rig.executed()).toEqual({ r: 1 });
  });

  it('a race whose winner is of another model is not kept', async () => {
    const branches = [
      { id: 'x', task: say('x', fallback) },
      { id: 'y', task: say('y', { ...good, stopReason: 'refusal' }) },
    ];
    const phase = {
      id: 'r',
      type: 'race',
      runner: 'json',
      branches,
      cancelLosers: false,
      retry: { max: 0 },
      cache: cross(),
    };
    const result = await rig.run(flow([phase]));
    expect(phaseOf(result, 'r').status).toBe('done');
    expect(rig.entries()).toEqual([]);
  });

  it('a nested flow is not kept with a fallback model, an undeclared file or a tolerated failure inside', async () => {
    const inner = (phase: object) => ({
      id: 'sub',
      type: 'flow',
      cache: cross(),
      def: { name: 'inner', phases: [phase] },
    });
    const plain = { runner: 'json', type: 'agent' };
    const cases = [
      { ...plain, id: 'a', task: say('a', fallback) },
      { ...plain, id: 'a', task: say('a', { ...good, filesWritten: ['notes.md'] }) },
      { ...plain, id: 'a', task: say('a', { ...good, stopReason: 'refusal' }), optional: true },
      { id: 'm', type: 'map', over: [1], runner: 'json', task: say('a', fallback) },
      { id: 'p', type: 'parallel', runner: 'json', branches: [{ id: 'x', task: say('a', fallback) }] },
      { id: 'f', type: 'flow', def: { name: 'deeper', phases: [{ ...plain, id: 'a', task: say('a', fallback) }] } },
    ];
    for (const phase of cases) {
      await expectNeverKept([inner(phase)], { a: 1 });
      expect(rig.entries()).toEqual([]);
    }
    await rig.executed(flow([inner({ ...plain, id: 'a', task: say('a', good) })]));
    expect(await rig.executed()).toEqual({});
  });
});

describe('undeclared writes', () => {
  it('a file that the runner reports and `outputs` does not cover: not kept, and the file is named', async () => {
    const writes = { ...good, filesWritten: ['src/new.ts'] };
    await expectNeverKept([answering('a', writes)], { a: 1 });
    expect(phaseOf(await rig.run(), 'a').remark).toContain('src/new.ts');
    rig.write('src/new.ts', 'x');
    await rig.executed(flow([answering('a', writes, { outputs: ['src/**'] })]));
    expect(await rig.executed()).toEqual({});
  });

  it('a file outside of the project is never covered', async () => {
    await expectNeverKept([answering('a', { ...good, filesWritten: ['/tmp/elsewhere.txt'] }, { outputs: ['**'] })], {
      a: 1,
    });
  });
});
