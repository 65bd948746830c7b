import { describe, expect, it } from 'vitest';
import { checkGenerated, extractJson } from '../../src/check/generated.js';
import type { JsonValue } from '../../src/model/json.js';
import { check, checked, makeProject } from './support.js';

async function generate(value: unknown, options: { depth?: number; project?: ReturnType<typeof makeProject> } = {}) {
  const parent = await checked({ name: 'outer', phases: [{ id: 'p', task: 'x' }] });
  const project = options.project ?? makeProject();
  return checkGenerated(project, value as JsonValue, { parent, phase: 'grow', depth: options.depth ?? 1 });
}
async function problems(value: unknown, options = {}): Promise<readonly string[]> {
  const result = await generate(value, options);
  return 'flow' in result ? [] : result.diagnostics.map(({ code, message }) => `${code}: ${message}`);
}

const phases = [
  { id: 'a', task: 'Say hello' },
  { id: 'b', task: '{steps.a.output}' },
];

describe('a generated flow', () => {
  it.each([
    ['a flow', { name: 'mine', phases }],
    ['its phases', { phases }],
    ['a bare list', phases],
    ['text', JSON.stringify(phases)],
    ['a fence', `Here you go:\n\`\`\`json\n${JSON.stringify({ phases })}\n\`\`\`\nDone.`],
    [
      'a fence after another one',
      `\`\`\`ts\nlet x = {};\n\`\`\`\n\n\`\`\`json\n${JSON.stringify(phases, null, 2)}\n\`\`\``,
    ],
    ['prose around it', `Sure! ${JSON.stringify({ phases })} — that is it.`],
  ])('may be %s', async (_, value) => {
    const result = await generate(value);
    expect('flow' in result && result.flow.phases.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('has a name of its own and no file', async () => {
    const result = await generate(phases);
    expect('flow' in result && result.flow).toMatchObject({ name: 'outer.grow' });
    expect('flow' in result && result.flow.file).toBeUndefined();
  });

  it.each([
    ['a script', [{ id: 'a', type: 'script', run: ['rm', '-rf', '/'] }]],
    ['a map that runs', [{ id: 'a', type: 'map', over: [1], run: ['ls'] }]],
    ['a branch that runs', [{ id: 'a', type: 'parallel', branches: [{ run: ['ls'] }] }]],
    ['a race that runs', [{ id: 'a', type: 'race', branches: [{ run: ['ls'] }, { task: 'x' }] }]],
    ['a command fingerprint', [{ id: 'a', task: 'x', cache: { scope: 'cross-run', fingerprint: ['cmd:rm -rf /'] } }]],
    ['a default command fingerprint', { defaults: { cache: { fingerprint: ['cmd:ls'] } }, phases }],
    ['a runner of the flow', { runner: 'mine', phases }],
    ['a runner of a phase', [{ id: 'a', task: 'x', runner: 'mine' }]],
    ['a runner of a branch', [{ id: 'a', type: 'parallel', branches: [{ task: 'x', runner: 'mine' }] }]],
    ['a script further down', [{ id: 'a', type: 'flow', def: [{ id: 'b', type: 'script', run: ['ls'] }] }]],
    ['101 phases', Array.from({ length: 101 }, (_, i) => ({ id: `p${i}`, task: 'x' }))],
    ['201 items', [{ id: 'a', type: 'map', over: Array(201).fill(1), task: 'x' }]],
    ['a flow chosen by a placeholder', [{ id: 'a', type: 'map', over: ['x'], use: '{item}' }]],
  ])('may not have %s', async (_, value) => {
    expect(await problems(value)).toEqual(expect.arrayContaining([expect.stringMatching(/^generated-flow: /)]));
  });

  it.each([
    ['cwd', [{ id: 'a', task: 'x', cwd: '/' }]],
    ['cwd upwards', [{ id: 'a', task: 'x', cwd: '../..' }]],
    ['context', [{ id: 'a', task: 'x', context: ['/etc/passwd'] }]],
    ['home', [{ id: 'a', task: 'x', context: ['~/.ssh/id_rsa'] }]],
  ])('may not reach outside the project by %s', async (_, value) => {
    expect(await problems(value)).toEqual([expect.stringMatching(/^outside-project/)]);
  });

  it('counts the phases of all flows inside it', async () => {
    const nested = Array.from({ length: 3 }, (_, n) => ({
      id: `n${n}`,
      type: 'flow',
      def: Array.from({ length: 40 }, (_, i) => ({ id: `p${i}`, task: 'x' })),
    }));
    expect(await problems(nested)).toEqual([expect.stringMatching(/^generated-flow/)]);
  });

  it('is nested at most five deep', async () => {
    expect(await problems(phases, { depth: 5 })).toEqual([]);
    expect(await problems(phases, { depth: 6 })).toEqual([expect.stringMatching(/^generated-flow/)]);
    const inner = [{ id: 'a', type: 'flow', def: [{ id: 'b', task: 'x' }] }];
    expect(await problems(inner, { depth: 5 })).toEqual([expect.stringMatching(/^generated-flow/)]);
  });

  it('may use a saved flow, unless that one executes commands at any depth', async () => {
    const project = makeProject({
      '.pi/taskflows/says.yaml': 'phases: [{ id: a, task: x }]',
      '.pi/taskflows/runs.yaml': 'phases: [{ id: a, type: script, run: [ls] }]',
      '.pi/taskflows/hides.yaml': 'phases: [{ id: a, type: flow, use: runs }]',
    });
    const use = (name: string) => problems([{ id: 'a', type: 'flow', use: name }], { project });
    expect(await use('says')).toEqual([]);
    expect(await use('runs')).toEqual([expect.stringMatching(/^generated-flow/)]);
    expect(await use('hides')).toEqual([expect.stringMatching(/^generated-flow/)]);
  });

  it('does not see the phases around it', async () => {
    expect(await problems([{ id: 'a', task: '{steps.p.output}' }])).toEqual([expect.stringMatching(/^unknown-step/)]);
  });

  it('that is grafted sees what its phase waited for, and no more', async () => {
    const parent = await checked({
      args: { topic: { default: 'x' } },
      phases: [
        { id: 'first', task: 'x' },
        { id: 'plan', task: '{steps.first.output}', output: 'json' },
        { id: 'aside', task: 'x' },
        { id: 'grow', type: 'expand', expandMode: 'graft', def: '{steps.plan.json}' },
      ],
    });
    const grafted = async (task: string) => {
      const result = await checkGenerated(makeProject(), [{ id: 'a', task }], { parent, phase: 'grow', depth: 1 });
      return 'flow' in result ? 'fine' : result.diagnostics.map(({ code }) => code).join();
    };
    expect(await grafted('{steps.first.output} {steps.plan.output} {args.topic}')).toBe('fine');
    expect(await grafted('{steps.aside.output}')).toBe('unknown-step');
    expect(await grafted('{steps.grow.output}')).toBe('unknown-step');
  });

  it.each([
    ['prose', 'I could not make a plan.'],
    ['nothing', ''],
    ['half an object', '{"phases": [{"id": "a"'],
    ['a number', 7],
    ['null', null],
    ['forbidden names', '{"phases": [{"id": "a", "task": "x", "__proto__": {"polluted": true}}]}'],
    ['60,000 levels', '['.repeat(60_000)],
  ])('that is %s fails with a place in the generated text', async (_, value) => {
    const result = await generate(value);
    expect(result).toMatchObject({ diagnostics: [{ severity: 'error', file: 'flow.json#grow.json' }] });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('a problem of a generated flow', () => {
  const bad = [
    { id: 'scan', task: 'x' },
    { id: 'b', task: '{steps.scna.output}' },
  ];

  it.each([
    ['an object', { phases: bad }, [9, 16]],
    ['a bare list', bad, [8, 14]],
  ])('has its place, and says what was meant: %s', async (_, value, [line, column]) => {
    const message = 'there is no phase "scna" (did you mean "scan"?)';
    expect(await generate(value)).toMatchObject({ diagnostics: [{ line, column, message }] });
  });

  it('has its place in a list that is written into a flow as well', async () => {
    const text = 'phases:\n  - id: a\n    type: flow\n    def:\n      - { id: b, tsak: x, task: y }\n';
    const { diagnostics } = await check(text);
    expect(diagnostics).toMatchObject([{ line: 5, column: 18, code: 'unknown-field' }]);
  });
});

describe('JSON in what a model said', () => {
  it('is found where it is, and the text itself is given back where there is none', () => {
    expect(extractJson(' {"a": 1} ')).toBe('{"a": 1}');
    expect(extractJson('~~~\n[1]\n~~~')).toBe('[1]');
    expect(extractJson('no JSON here')).toBe('no JSON here');
  });
});
