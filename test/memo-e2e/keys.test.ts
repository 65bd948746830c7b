import { cpSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadFlow, openProject, runFlow } from '../../src/index.js';
import { phaseOf } from '../support/rig.js';
import { CACHE, createMemoRig, cross, flow, kept, type MemoRig, makeRepository, writeConfig } from './support.js';

let rig: MemoRig;
beforeEach(() => {
  rig = createMemoRig();
});
afterEach(() => rig.remove());

const agent = (id: string, more: object = {}) => ({
  id,
  type: 'agent',
  task: `NAME: ${id}\nSAY: so`,
  cache: cross(),
  ...more,
});

describe('two things are not one', () => {
  it('two flows with the same phase', async () => {
    expect(await rig.executed(flow([kept('a')]), { file: 'one.json' })).toEqual({ a: 1 });
    expect(await rig.executed({ name: 'other', phases: [kept('a')] }, { file: 'two.json' })).toEqual({ a: 1 });
    expect(await rig.executed(undefined, { file: 'one.json' })).toEqual({});
    expect(await rig.executed(undefined, { file: 'two.json' })).toEqual({});
  });

  it('two phases with the same text', async () => {
    const same = (id: string) => ({ id, type: 'script', run: ['bin/tick', 'same'], cache: cross() });
    expect(await rig.executed(flow([same('a'), same('b')]))).toEqual({ same: 2 });
    expect(await rig.executed()).toEqual({});
  });

  it('arguments that join to the same text', async () => {
    const run = (...words: string[]) =>
      flow([{ id: 'a', type: 'script', run: ['bin/tick', 'a', ...words], cache: cross() }]);
    for (const words of [['x y'], ['x', 'y'], ['x', '', 'y'], ['x y', '']]) {
      expect(await rig.executed(run(...words))).toEqual({ a: 1 });
    }
    for (const words of [['x y'], ['x', 'y'], ['x', '', 'y'], ['x y', '']]) {
      expect(await rig.executed(run(...words))).toEqual({});
    }
  });

  it('a word in argv, on stdin and in the environment; a string and a list', async () => {
    const base = { id: 'a', type: 'script', cache: cross() };
    const phases = [
      { ...base, run: ['bin/tick', 'a', 'w'] },
      { ...base, run: ['bin/tick', 'a'], input: 'w' },
      { ...base, run: ['bin/tick', 'a'], env: { W: 'w' } },
      { ...base, run: ['bin/tick', 'a'], env: { V: 'w' } },
      { ...base, run: 'bin/tick a w' },
    ];
    for (const phase of phases) expect(await rig.executed(flow([phase]))).toEqual({ a: 1 });
    for (const phase of phases) expect(await rig.executed(flow([phase]))).toEqual({});
  });

  it('a number and its text, null and a missing value, in the items of a map', async () => {
    const map = (over: unknown[]) =>
      flow([{ id: 'm', type: 'map', over, run: ['bin/tick', 'm', '{item}'], output: 'text', cache: cross() }]);
    expect(await rig.executed(map([1]))).toEqual({ m: 1 });
    // Rendered into the same argv they are the same execution; where the type is kept they are not.
    expect(await rig.executed(map(['1']))).toEqual({});
    const sub = { name: 'sub', args: { v: {} }, phases: [kept('inner', [], { run: ['bin/tick', 'inner'] })] };
    rig.write('.pi/taskflows/sub.json', JSON.stringify(sub));
    const use = (v: unknown) => flow([{ id: 'u', type: 'flow', use: 'sub', with: { v }, cache: cross() }]);
    for (const v of [1, '1', null, [], '']) phaseOf(await rig.run(use(v)), 'u');
    const keys = new Set(
      rig
        .entries()
        .map((_, i) => rig.entry(i))
        .filter((entry) => entry.phase === 'u')
        .map((entry) => entry.key),
    );
    expect(keys.size).toBe(5);
  });
});

describe('one thing stays one', () => {
  it('in another process, in another folder with the cache copied over, with other times', async () => {
    rig.write('src/a.txt', 'one\n');
    makeRepository(rig.root);
    const phases = [
      kept('a', ['glob:src/**', 'git:worktree', 'cmd:git --version']),
      agent('b', { context: ['src/a.txt'], cwd: 'src' }),
    ];
    await rig.executed(flow(phases));
    rig.git('add', '.');
    rig.git('commit', '-q', '-m', 'flow');
    expect(await rig.executed()).toEqual({ a: 1 });
    const copy = join(rig.root, '..', 'elsewhere', 'deep down', 'checkout');
    mkdirSync(join(copy, '..'), { recursive: true });
    rig.git('clone', '-q', rig.root, copy);
    cpSync(join(rig.root, CACHE), join(copy, CACHE), { recursive: true, preserveTimestamps: false });
    rig.forget();
    const project = openProject(realpathSync(copy), rig.project.env);
    const result = await runFlow(project, await loadFlow(project, './flow.json')).result;
    expect(rig.counts()).toEqual({});
    expect(result.reuse).toMatchObject({ executed: 0, crossRun: 2 });
  });

  it('cosmetic edits of the flow cause no miss', async () => {
    const phases = [
      { id: 'a', type: 'script', run: ['bin/tick', 'a'], cache: cross(['env:A', 'file:bin/tick']) },
      agent('b', { dependsOn: ['a'] }),
      { id: 'm', type: 'map', over: ['x', 'y'], run: ['bin/tick', 'm', '{item}'], cache: cross() },
      {
        id: 'p',
        type: 'parallel',
        branches: [
          { id: 'one', run: ['bin/tick', 'p1'] },
          { id: 'two', run: ['bin/tick', 'p2'] },
        ],
        cache: cross(),
      },
    ];
    await rig.executed(flow(phases));
    const reordered = phases.map((phase) => Object.fromEntries(Object.entries(phase).reverse()));
    const edits = [
      flow(reordered, { description: 'new words', version: '2' }),
      flow(
        phases.map((phase) => ({
          ...phase,
          description: 'told again',
          timeout: '1h',
          retry: { max: 4, backoffMs: 5 },
        })),
      ),
      flow(
        phases.map((phase) => ({ ...phase, optional: true, idleTimeout: '9m' })),
        { concurrency: 3, budget: { maxTokens: 10_000_000 } },
      ),
      flow(phases.map((phase, index) => ({ ...phase, ...(index === 3 ? { final: true, concurrency: 2 } : {}) }))),
      flow([phases[3]!, phases[2]!, phases[0]!, phases[1]!]),
      flow([
        { ...phases[0], cache: { ttl: '40d', fingerprint: ['file:bin/tick', 'env:A'], scope: 'cross-run' } },
        ...phases.slice(1),
      ]),
      flow(phases, { args: { unused: { default: 1, description: 'nobody asks' } } }),
      `// a comment\n${JSON.stringify(flow(phases)).replace('"phases"', '/* here */ "phases"')}`,
    ];
    for (const edited of edits) expect(await rig.executed(edited)).toEqual({});
  });

  it('the same flow in YAML, with comments, blank lines and other quotes', async () => {
    await rig.executed(flow([{ id: 'a', type: 'script', run: ['bin/tick', 'a', 'x'], cache: cross(['env:A']) }]), {
      file: 'flow.yaml',
    });
    const yaml =
      '# first\nname:   memo\n\nphases:\n  # the only one\n  - type: script\n' +
      `    cache: {fingerprint: ["env:A"], scope: 'cross-run'}\n    id: "a"\n\n    run:\n` +
      `      - bin/tick\n      - 'a'\n      - >-\n        x\n`;
    expect(await rig.executed(yaml, { file: 'flow.yaml' })).toEqual({});
  });

  it('new order of items, matches and environment; one more item is one execution', async () => {
    const map = (over: unknown[]) =>
      flow([
        {
          id: 'm',
          type: 'map',
          over,
          run: ['bin/tick', '{item.name}'],
          env: { A: '1', B: '{item.name}' },
          cache: cross(),
        },
      ]);
    const [x, y, z] = ['x', 'y', 'z'].map((name) => ({ name, n: 1 }));
    expect(await rig.executed(map([x, y]))).toEqual({ x: 1, y: 1 });
    expect(await rig.executed(map([y, { n: 1, name: 'x' }]))).toEqual({});
    expect(await rig.executed(map([z, y, x]))).toEqual({ z: 1 });
    expect(await rig.executed(map([y]))).toEqual({});
    const again = await rig.run(map([y, y, x]));
    // The second of two equal items is a second execution, once.
    expect(phaseOf(again, 'm').items).toMatchObject({ executed: 1, reused: 2 });
    expect(await rig.executed(map([y, x, y]))).toEqual({});
  });

  it('one edited branch is one execution, a new order of branches none', async () => {
    const branch = (id: string, word = id) => ({ id, run: ['bin/tick', id, word] });
    const parallel = (branches: object[]) => flow([{ id: 'p', type: 'parallel', branches, cache: cross() }]);
    await rig.executed(parallel([branch('x'), branch('y'), branch('z')]));
    expect(await rig.executed(parallel([branch('x'), branch('y', 'other'), branch('z')]))).toEqual({ y: 1 });
    expect(await rig.executed(parallel([branch('z'), branch('x'), branch('y')]))).toEqual({});
  });

  it('bytes that are no text come out of the store as they went in', async () => {
    const phases = [
      { id: 'bytes', type: 'script', run: "bin/note bytes; printf '\\377\\000\\n'", cache: cross() },
      { id: 'dump', type: 'script', run: ['od', '-An', '-tx1'], input: '{steps.bytes.output}', cache: cross() },
    ];
    for (let i = 0; i < 2; i++) expect((await rig.run(flow(phases))).output.trim()).toBe('ff 00 0a');
    rig.forget();
    await rig.run(flow([phases[0]!, { ...phases[1], run: ['od', '-An', '-tx1', '-v'] }]));
    expect(rig.counts()).toEqual({});
  });

  it('an upstream that runs again and says the same causes nothing below it', async () => {
    rig.write('in.txt', '1');
    const up = { id: 'up', type: 'script', run: 'bin/note up; echo same', cache: cross(['file:in.txt']) };
    const quoting = kept('down', [], { run: ['bin/tick', 'down', '{steps.up.output}'] });
    const following = kept('after', [], { dependsOn: ['up'] });
    await rig.executed(flow([up, quoting, following]));
    rig.write('in.txt', '2');
    // What only follows it may see what it left behind, so it counts by what it was made from.
    expect(await rig.executed()).toEqual({ up: 1, after: 1 });
  });
});

describe('defaults that change outside of the flow', () => {
  const phases = [agent('a'), kept('s')];
  const run = () => rig.executed(flow(phases));

  it.each([
    ['the model of the configuration', 'model: other\n'],
    ['the level of thinking', 'thinking: high\n'],
  ])('%s', async (_what, line) => {
    await run();
    writeConfig(rig, line);
    expect(await run()).toEqual({ a: 1 });
    writeConfig(rig);
    expect(await run()).toEqual({});
  });

  it("the runner's model, command, format and version; another runner", async () => {
    await run();
    const config = (text: string) => rig.write('.pi/taskflows/config.yaml', `runner: rig\nrunners:\n  rig: ${text}\n`);
    for (const text of [
      '{ command: [bin/agent], format: text, model: rig-2 }',
      '{ command: [bin/agent, --flag], format: text, model: rig-1 }',
      '{ command: [bin/agent], format: text, model: rig-1, version: "2" }',
    ]) {
      config(text);
      expect(await run()).toEqual({ a: 1 });
    }
    config('{ command: [bin/agent], format: text, model: rig-1, concurrency: 3, ratePerMinute: 1000 }');
    expect(await run()).toEqual({});
    rig.write(
      '.pi/taskflows/config.yaml',
      'runner: two\nrunners:\n  two: { command: [bin/agent], format: text, model: rig-1 }\n',
    );
    expect(await run()).toEqual({ a: 1 });
  });

  it('--model and --runner of the command line', async () => {
    await run();
    expect(await rig.executed(flow(phases), { model: 'other' })).toEqual({ a: 1 });
    expect(await rig.executed(flow(phases), { model: 'rig-1' })).toEqual({});
  });

  it('the agent file: its prompt, model and tools; another agent of the same text; no unused file', async () => {
    const file = (body: string, head = '') => `---\nname: helper\ndescription: x\n${head}---\n${body}\n`;
    rig.write('.pi/agents/helper.md', file('Be brief.'));
    const withAgent = flow([agent('a', { agent: 'helper' })]);
    await rig.executed(withAgent);
    rig.write('.pi/agents/unused.md', file('Be long.').replace('helper', 'unused'));
    rig.write('.pi/agents/helper.md', file('Be brief.').replace('description: x', 'description: y'));
    expect(await rig.executed()).toEqual({});
    for (const text of [file('Be kind.'), file('Be brief.', 'model: other\n'), file('Be brief.', 'tools: read\n')]) {
      rig.write('.pi/agents/helper.md', text);
      expect(await rig.executed()).toEqual({ a: 1 });
    }
    rig.write('.pi/agents/helper.md', file('Be brief.'));
    expect(await rig.executed()).toEqual({});
    rmSync(join(rig.root, '.pi/agents/unused.md'));
    expect(await rig.executed()).toEqual({});
  });

  it('a context file: its end counts although only its beginning is sent', async () => {
    rig.write('notes.md', `${'x'.repeat(100)}one`);
    const phase = flow([agent('a', { context: ['notes.md'], contextLimit: 50 })]);
    await rig.executed(phase);
    expect(await rig.executed()).toEqual({});
    rig.write('notes.md', `${'x'.repeat(100)}two`);
    expect(await rig.executed()).toEqual({ a: 1 });
  });

  it('pinVersion adds the version of the client', async () => {
    const config = (version: string, pin: boolean) =>
      rig.write(
        '.pi/taskflows/config.yaml',
        'runner: rig\nrunners:\n  rig: { command: [bin/agent], format: text, model: rig-1, ' +
          `version: "${version}"${pin ? ', pinVersion: true' : ''} }\n`,
      );
    config('1', true);
    await run();
    expect(await run()).toEqual({});
    config('2', true);
    expect(await run()).toEqual({ a: 1 });
  });
});

describe('loops', () => {
  it('iterations are not mistaken for one another, and a finished loop is one hit', async () => {
    const task = 'NAME: l\nSAY: round {loop.iteration}';
    const loop = { id: 'l', type: 'loop', task, maxIterations: 3, convergence: false, cache: cross() };
    expect(phaseOf(await rig.run(flow([loop])), 'l').output).toBe('round 3');
    expect(rig.counts()).toEqual({ l: 3 });
    rig.forget();
    expect(phaseOf(await rig.run(), 'l').output).toBe('round 3');
    expect(rig.counts()).toEqual({});
  });

  it('iterations with equal prompts are each executed', async () => {
    const loop = {
      id: 'l',
      type: 'loop',
      task: 'NAME: l\nSAY: same',
      maxIterations: 3,
      convergence: false,
      cache: cross(),
    };
    expect(await rig.executed(flow([loop]))).toEqual({ l: 3 });
    expect(await rig.executed(flow([{ ...loop, maxIterations: 4 }]))).toEqual({ l: 1 });
  });

  it.each([
    ['the number of an iteration', { context: ['{loop.iteration}.md'] }],
    ['the iteration before', { context: ['{steps.l.json}'], task: 'NAME: l\nSAY: ["2.md"]', output: 'json' }],
    ['a fingerprint of the iteration', { cache: cross(['file:{loop.iteration}.md']) }],
  ])('a file that %s names decides', async (_name, more) => {
    for (const name of ['1.md', '2.md']) rig.write(name, 'one');
    const loop = { id: 'l', type: 'loop', task: 'NAME: l', maxIterations: 2, convergence: false, cache: cross() };
    expect(await rig.executed(flow([{ ...loop, ...more }]))).toEqual({ l: 2 });
    expect(await rig.executed()).toEqual({});
    rig.write('2.md', 'two');
    expect(await rig.executed()).toEqual({ l: 1 });
    expect(await rig.executed()).toEqual({});
  });

  it('an argument or an output in the condition decides: another value is another loop', async () => {
    const until = '{loop.iteration} >= {args.n} && {steps.first.json.go} == yes';
    const spec = { args: { n: { type: 'number', default: 1 }, go: { default: 'yes' } } };
    const phases = [
      { id: 'first', type: 'script', run: ['printf', '%s', '{"go": "{args.go}", "word": "w"}'], output: 'json' },
      {
        id: 'l',
        type: 'loop',
        task: 'NAME: l\nSAY: {steps.first.json.word}',
        until,
        maxIterations: 3,
        convergence: false,
        cache: cross(),
      },
    ];
    expect(await rig.executed(flow(phases, spec))).toEqual({ l: 1 });
    expect(await rig.executed(undefined, { args: { n: 2 } })).toEqual({ l: 1 });
    expect(await rig.executed(undefined, { args: { go: 'no' } })).toEqual({ l: 1 });
    const stopped = await rig.run(undefined, { args: { go: 'no' } });
    expect(phaseOf(stopped, 'l').cacheHit).toBe('cross-run');
  });

  it('variants of a tournament ask the same and are each executed', async () => {
    const phase = {
      id: 't',
      type: 'tournament',
      task: 'NAME: t\nSAY: WINNER: 1',
      variants: 3,
      judge: 'NAME: judge\nSAY: WINNER: 2',
      cache: cross(),
    };
    expect(await rig.executed(flow([phase]))).toEqual({ t: 3, judge: 1 });
    expect(await rig.executed()).toEqual({});
    expect(await rig.executed(flow([{ ...phase, variants: 4 }]))).toMatchObject({ t: 1 });
  });
});
