import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/model/event.js';
import { createRig, phaseOf, type Rig, ticking } from '../support/rig.js';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.remove());

const flow = (phases: object[], more: object = {}) => ({ name: 'kinds', ...more, phases });
const agent = (id: string, task: string, more: object = {}) => ({ id, type: 'agent', task, ...more });

describe('script and agent', () => {
  it('a script gets argv unsplit, stdin and env, and its trailing line ends are dropped', async () => {
    const result = await rig.run(
      flow(
        [
          { id: 'a', type: 'script', run: ['printf', '%s|', 'x y', '$HOME', '{args.q}'] },
          {
            id: 'b',
            type: 'script',
            run: 'cat; printf "%s\\n\\n" "$NAME"',
            input: 'in:{steps.a.output}:',
            env: { NAME: '{args.q}' },
          },
        ],
        { args: { q: { default: '"; rm -rf / #' } } },
      ),
    );
    expect(result.status).toBe('success');
    expect(phaseOf(result, 'a').output).toBe('x y|$HOME|"; rm -rf / #|');
    expect(result.output).toBe('in:x y|$HOME|"; rm -rf / #|:"; rm -rf / #');
  });

  it('output that is not UTF-8 reaches an input byte for byte', async () => {
    const result = await rig.run(
      flow([
        { id: 'bytes', type: 'script', run: ['printf', '\\377\\000\\376'] },
        { id: 'dump', type: 'script', run: ['od', '-An', '-tx1'], input: '{steps.bytes.output}' },
      ]),
    );
    expect(result.output.trim()).toBe('ff 00 fe');
  });

  it('a failing script names its status and the tail of stderr', async () => {
    const result = await rig.run(flow([{ id: 'a', type: 'script', run: 'echo no such thing >&2; exit 3' }]));
    expect(result.status).toBe('failed');
    expect(result.error).toMatchObject({ phase: 'a', code: 'exit' });
    expect(`${result.error?.message} ${result.error?.detail}`).toContain('no such thing');
  });

  it('an agent sees its task with upstream outputs, and `output: json` is read out of a fence', async () => {
    const result = await rig.run(
      flow([
        agent('a', 'SAY: ```json\nSAY: {"n": [1, 2]}\nSAY: ```', { output: 'json' }),
        agent('b', 'SAY: second is {steps.a.json.n.1}'),
      ]),
    );
    expect(result.output).toBe('second is 2');
    expect(rig.counts()).toEqual({ agent: 2 });
  });

  it('an answer that breaks `expect` fails the phase', async () => {
    const expectSchema = { type: 'object', required: ['ok'] };
    const result = await rig.run(flow([agent('a', 'SAY: {"no": 1}', { output: 'json', expect: expectSchema })]));
    expect(result.error).toMatchObject({ code: 'expect' });
  });

  it('retry.max attempts are made, and no more', async () => {
    await rig.run(flow([{ id: 'a', type: 'script', run: 'bin/tick a; exit 1', retry: { max: 2, backoffMs: 1 } }]));
    expect(rig.counts()).toEqual({ a: 3 });
  });

  it('a phase that is not idempotent is not retried by itself', async () => {
    await rig.run(
      flow([
        { id: 'a', type: 'script', run: 'bin/tick a; exit 1', idempotent: false, retry: { max: 2, backoffMs: 1 } },
      ]),
    );
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it('a time limit ends the whole tree', async () => {
    const result = await rig.run(flow([{ id: 'a', type: 'script', run: 'sleep 60 & sleep 60', timeout: '200ms' }]));
    expect(result.error).toMatchObject({ code: 'timeout' });
    expect(result.durationMs).toBeLessThan(20_000);
  });

  it('a script that was stopped tells what it said last, on stdout where stderr is silent', async () => {
    const script = (run: string, more: object) => rig.run(flow([{ id: 'a', type: 'script', run, ...more }]));
    const slow = await script('echo at test 7; exec sleep 60', { timeout: '1s' });
    expect(slow.error).toMatchObject({ code: 'timeout', detail: 'at test 7' });
    const silent = await script('echo at test 7; exec sleep 60', { idleTimeout: '1s' });
    expect(silent.error).toMatchObject({ code: 'idle-timeout', detail: 'at test 7' });
    const both = await script('echo at test 7; echo waiting >&2; exec sleep 60', { timeout: '1s' });
    expect(both.error).toMatchObject({ code: 'timeout', detail: 'waiting' });
  });
});

describe('parallel and map', () => {
  it('parallel runs every branch and names each in its output', async () => {
    const result = await rig.run(
      flow([
        {
          id: 'p',
          type: 'parallel',
          branches: [
            { id: 'x', run: ['bin/tick', 'x', 'X'] },
            { id: 'y', task: 'NAME: y\nSAY: Y' },
          ],
        },
      ]),
    );
    expect(rig.counts()).toEqual({ x: 1, y: 1 });
    expect(phaseOf(result, 'p').json).toEqual({ x: 'X', y: 'Y' });
  });

  it('map keeps the order of its items and `.json` is the list', async () => {
    const result = await rig.run(
      flow([
        { id: 'list', type: 'script', run: ['printf', '["c","a","b"]'], output: 'json' },
        { id: 'm', type: 'map', over: '{steps.list.json}', run: ['bin/tick', '{item}', 'v-{item}'] },
      ]),
    );
    expect(phaseOf(result, 'm').json).toEqual(['v-c', 'v-a', 'v-b']);
    expect(phaseOf(result, 'm').items).toMatchObject({ total: 3, executed: 3, reused: 0, failed: 0 });
  });

  it('all items run although one fails, and the rerun executes only the failed one', async () => {
    const phases = [
      {
        id: 'm',
        type: 'map',
        over: ['a', 'b', 'c', 'd'],
        as: 'x',
        run: ['sh', '-c', 'bin/tick "$0"; test "$0" != c || test -e fixed', '{x}'],
      },
    ];
    const first = await rig.run(flow(phases));
    expect(first.status).toBe('failed');
    expect(rig.counts()).toEqual({ a: 1, b: 1, c: 1, d: 1 });
    expect(phaseOf(first, 'm').items).toMatchObject({ total: 4, failed: 1 });
    rig.forget();
    rig.write('../fixed', '');
    const second = await rig.run(flow(phases));
    expect(second.status).toBe('failed');
    expect(rig.counts()).toEqual({ c: 1 });
  });

  it('map over something that is no list fails and says what it got', async () => {
    const result = await rig.run(
      flow([
        { id: 'a', type: 'script', run: ['printf', '{"x": 1}'], output: 'json' },
        { id: 'm', type: 'map', over: '{steps.a.json}', run: ['bin/tick', 'never'] },
      ]),
    );
    expect(result.error?.message).toContain('no list');
    expect(rig.counts()).toEqual({});
  });

  it('map with `use` runs another flow per item', async () => {
    rig.write(
      '.pi/taskflows/one.json',
      JSON.stringify({
        name: 'one',
        args: { topic: {} },
        phases: [ticking('shared'), { id: 'each', type: 'script', run: ['bin/tick', 'each', '{args.topic}!'] }],
      }),
    );
    const result = await rig.run(
      flow([{ id: 'm', type: 'map', over: ['p', 'q'], use: 'one', with: { topic: '{item}' } }]),
    );
    expect(phaseOf(result, 'm').json).toEqual(['p!', 'q!']);
    // The phase that both items share is computed once.
    expect(rig.counts()).toEqual({ shared: 1, each: 2 });
  });

  it('items that are reused together are told together, with exact counts at the end', async () => {
    const over = Array.from({ length: 50 }, (_, i) => `x${i}`);
    const each = (items: readonly string[]) =>
      flow([
        { id: 'each', type: 'map', over: items, run: ['bin/tick', 'each', '{item}'], cache: { scope: 'cross-run' } },
      ]);
    await rig.run(each(over));
    const told: unknown[] = [];
    const onEvent = (event: RunEvent) => {
      if (event.type === 'phase-progress') told.push(event.items);
    };
    const result = await rig.run(each([...over, 'new']), { onEvent });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(rig.counts()).toEqual({ each: 51 });
    expect(phaseOf(result, 'each').items).toEqual({ total: 51, executed: 1, reused: 50, failed: 0 });
    // While the new one executes, everybody can see that it is the only one left.
    const now = { current: 'item 51 (new)', running: 1 };
    expect(told).toContainEqual({ total: 51, done: 50, failed: 0, reused: 50, ...now });
    expect(told.at(-1)).toEqual({ total: 51, done: 51, failed: 0, reused: 50 });
    // A slow machine takes more than one turn of the event loop for them.
    expect(told.length).toBeLessThan(20);
  });
});

it('how many items there are is told before the first one is done', async () => {
  const told: unknown[] = [];
  const onEvent = (event: RunEvent) => {
    if (event.type === 'phase-progress') told.push(event.items);
  };
  await rig.run(flow([{ id: 'each', type: 'map', over: ['a', 'b'], run: ['bin/tick', 'each', '{item}'] }]), {
    onEvent,
  });
  expect(told[0]).toMatchObject({ total: 2, done: 0, failed: 0, reused: 0 });
  expect(told.at(-1)).toEqual({ total: 2, done: 2, failed: 0, reused: 0 });
});

describe('reduce', () => {
  it('gives the outputs of `from` to the agent when the task does not quote them', async () => {
    const result = await rig.run(
      flow([ticking('a'), ticking('b'), { id: 'r', type: 'reduce', from: ['a', 'b'], task: 'Join.' }]),
    );
    expect(result.output).toContain('said a');
    expect(result.output).toContain('said b');
  });

  it('tree: batches, then batches of their results', async () => {
    const items = Array.from({ length: 9 }, (_, index) => `i${index}`);
    await rig.run(
      flow([
        { id: 'm', type: 'map', over: items, run: ['bin/tick', 'item', '{item}'] },
        { id: 'r', type: 'reduce', from: ['m'], task: 'NAME: join', reduceStrategy: 'tree', batchSize: 3 },
      ]),
    );
    expect(rig.counts()).toEqual({ item: 9, join: 4 });
  });
});

describe('gate', () => {
  it('passes on conditions that hold, without asking a model', async () => {
    const result = await rig.run(
      flow([
        ticking('a', {}, 'good'),
        { id: 'g', type: 'gate', eval: ['{steps.a.output} == good'], task: 'SAY: VERDICT: BLOCK' },
        ticking('b', { dependsOn: ['g'] }),
      ]),
    );
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ a: 1, b: 1 });
  });

  it('blocks on a condition that does not hold, and nothing behind it runs', async () => {
    const result = await rig.run(
      flow([
        ticking('a', {}, 'bad'),
        { id: 'g', type: 'gate', eval: ['{steps.a.output} == good'] },
        ticking('b', { dependsOn: ['g'] }),
      ]),
    );
    expect(result.status).toBe('blocked');
    expect(phaseOf(result, 'g').status).toBe('blocked');
    expect(phaseOf(result, 'b').status).toBe('cancelled');
    expect(rig.counts()).toEqual({ a: 1 });
  });

  it.each([
    ['SAY: VERDICT: PASS', 'success'],
    ['SAY: looks fine\nSAY: **VERDICT: PASS**', 'success'],
    ['SAY: VERDICT: PASS\nSAY: no wait\nSAY: VERDICT: BLOCK', 'blocked'],
    ['SAY: {"verdict": "pass"}', 'success'],
    ['SAY: {"pass": false, "reason": "x"}', 'blocked'],
    ['SAY: not BLOCK', 'blocked'],
    ['SAY: VERDICT: maybe', 'blocked'],
    ['SAY: whatever', 'blocked'],
  ])('reads the verdict of %j as %s', async (task, status) => {
    const result = await rig.run(flow([{ id: 'g', type: 'gate', task }]));
    expect(result.status).toBe(status);
  });

  it('onBlock: retry runs the direct dependencies again with the feedback, then judges again', async () => {
    const result = await rig.run(
      flow([
        {
          id: 'a',
          type: 'script',
          run: 'bin/tick a > /dev/null; test -e ../twice && echo good || { touch ../twice; echo bad; }',
        },
        {
          id: 'g',
          type: 'gate',
          dependsOn: ['a'],
          eval: ['{steps.a.output} == good'],
          onBlock: 'retry',
          retry: { max: 2 },
        },
        ticking('b', { dependsOn: ['g'] }),
      ]),
    );
    expect(result.status).toBe('success');
    expect(rig.counts()).toEqual({ a: 2, b: 1 });
  });

  it('a weighted score passes at the threshold without a model and shows its figures', async () => {
    const result = await rig.run(
      flow([
        ticking('a', {}, 'a fine text'),
        {
          id: 'g',
          type: 'gate',
          dependsOn: ['a'],
          score: {
            target: '{steps.a.output}',
            scorers: [
              { type: 'contains', value: 'fine' },
              { type: 'regex', pattern: 'TODO', negate: true },
              { type: 'length-range', min: 1000 },
            ],
            combine: 'weighted',
            weights: [3, 2, 1],
            threshold: 0.8,
          },
        },
        { id: 'b', type: 'script', run: ['echo', '{steps.g.json.combined}'] },
      ]),
    );
    expect(result.status).toBe('success');
    expect(Number(result.output)).toBeCloseTo(5 / 6, 3);
  });
});

describe('loop', () => {
  it('runs until its condition holds', async () => {
    const result = await rig.run(
      flow([
        { id: 'l', type: 'loop', task: 'NAME: l\nSAY: round {loop.iteration}', until: '{steps.l.output} == "round 3"' },
      ]),
    );
    expect(result.output).toBe('round 3');
    expect(rig.counts()).toEqual({ l: 3 });
  });

  it('that depends on nothing has its iteration before as {previous.output}', async () => {
    const task = 'NAME: l\nSAY: {loop.iteration}<{previous.output}>';
    const result = await rig.run(flow([{ id: 'l', type: 'loop', task, maxIterations: 3 }]));
    expect(result.output).toBe('3<2<1<>>>');
  });

  it('stops when two iterations say the same', async () => {
    await rig.run(flow([{ id: 'l', type: 'loop', task: 'NAME: l\nSAY: same' }]));
    expect(rig.counts()).toEqual({ l: 2 });
  });

  it('does not stop on equal iterations with convergence: false, but at maxIterations', async () => {
    await rig.run(flow([{ id: 'l', type: 'loop', task: 'NAME: l\nSAY: same', convergence: false, maxIterations: 4 }]));
    expect(rig.counts()).toEqual({ l: 4 });
  });
});

describe('tournament and race', () => {
  it('the judge picks among the numbered variants', async () => {
    const result = await rig.run(
      flow([
        {
          id: 't',
          type: 'tournament',
          branches: [{ task: 'NAME: one\nSAY: first' }, { task: 'NAME: two\nSAY: second' }],
          judge: 'NAME: judge\nSAY: WINNER: 2',
        },
      ]),
    );
    expect(result.output).toBe('second');
    expect(rig.counts()).toEqual({ one: 1, two: 1, judge: 1 });
  });

  it('an unclear judge takes the first and says so', async () => {
    const result = await rig.run(
      flow([{ id: 't', type: 'tournament', task: 'NAME: v\nSAY: x', variants: 2, judge: 'SAY: hard to say' }]),
    );
    expect(phaseOf(result, 't')).toMatchObject({ status: 'done', output: 'x' });
    expect(phaseOf(result, 't').remark).toContain('no clear winner');
    expect(rig.counts()['v']).toBe(2);
  });

  it('the first success wins and the losers are ended', async () => {
    const result = await rig.run(
      flow([
        {
          id: 'r',
          type: 'race',
          branches: [
            { id: 'slow', run: 'sleep 30; bin/tick slow' },
            { id: 'broken', run: 'exit 1' },
            { id: 'fast', run: ['bin/tick', 'fast', 'won'] },
          ],
        },
      ]),
    );
    expect(result.output).toBe('won');
    expect(result.durationMs).toBeLessThan(20_000);
    expect(rig.counts()).toEqual({ fast: 1 });
  });

  it('a race that nobody wins fails with every reason', async () => {
    const result = await rig.run(flow([{ id: 'r', type: 'race', branches: [{ run: 'exit 1' }, { run: 'exit 2' }] }]));
    expect(result.status).toBe('failed');
    expect(result.error?.message).toContain('no branch succeeded');
  });
});

describe('flow and expand', () => {
  it('a nested flow gets its arguments and gives its final output', async () => {
    rig.write(
      'sub.json',
      JSON.stringify({
        name: 'sub',
        args: { who: { required: true } },
        phases: [{ id: 'hi', type: 'script', run: ['echo', 'hi {args.who}'] }],
      }),
    );
    const result = await rig.run(
      flow([
        { id: 'f', type: 'flow', use: './sub.json', with: { who: 'you' } },
        { id: 'b', type: 'script', run: ['echo', '{steps.f.output}!'] },
      ]),
    );
    expect(result.output).toBe('hi you!');
  });

  it('a generated flow is checked, held to its limits and run', async () => {
    const def = JSON.stringify({ phases: [{ id: 'x', type: 'agent', task: 'NAME: x\nSAY: made' }] });
    const result = await rig.run(
      flow([agent('plan', `SAY: ${def}`, { output: 'json' }), { id: 'f', type: 'flow', def: '{steps.plan.json}' }]),
    );
    expect(result.output).toBe('made');
    expect(rig.counts()).toEqual({ agent: 1, x: 1 });
  });

  it('a generated flow that wants to run a command is refused', async () => {
    const def = JSON.stringify({ phases: [{ id: 'x', type: 'script', run: ['touch', 'pwned'] }] });
    const result = await rig.run(
      flow([agent('plan', `SAY: ${def}`, { output: 'json' }), { id: 'f', type: 'flow', def: '{steps.plan.json}' }]),
    );
    expect(result.error).toMatchObject({ phase: 'f', code: 'bad-flow' });
  });

  it('a fragment with more than maxNodes phases is refused', async () => {
    const def = JSON.stringify([1, 2, 3].map((n) => ({ id: `x${n}`, task: `NAME: x${n}` })));
    const result = await rig.run(
      flow([
        agent('plan', `SAY: ${def}`, { output: 'json' }),
        { id: 'e', type: 'expand', def: '{steps.plan.json}', maxNodes: 2 },
      ]),
    );
    expect(result.error).toMatchObject({ phase: 'e', code: 'limit' });
  });
});
