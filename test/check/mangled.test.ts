import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { checkFlowText } from '../../src/check/check-flow.js';
import { diskWorld } from '../../src/check/world.js';
import { renderDiagnostic } from '../../src/parse/frame.js';
import { expectUsable } from './flow-invariants.js';
import { makeProject } from './support.js';

const project = makeProject({ '.pi/taskflows/saved.yaml': 'args: { x: {} }\nphases: [{ id: a, task: "{args.x}" }]' });

/** Any input: no exception, bounded time, and either a flow that the engine can run or an error with a place. */
async function expectAnswer(
  file: string,
  text: string | Buffer,
  trust: 'file' | 'generated' = 'file',
): Promise<boolean> {
  const start = performance.now();
  const { flow, diagnostics, source } = await checkFlowText({ file, text, world: diskWorld(project), trust });
  expect(performance.now() - start).toBeLessThan(5000);
  if (flow) expectUsable(flow);
  else expect(diagnostics.some(({ severity }) => severity === 'error')).toBe(true);
  const lines = source.split('\n').length;
  for (const diagnostic of diagnostics) {
    expect(diagnostic.line).toBeGreaterThan(0);
    expect(diagnostic.line).toBeLessThanOrEqual(lines);
    expect(diagnostic.column).toBeGreaterThan(0);
    expect(diagnostic.length).toBeGreaterThan(0);
    expect(renderDiagnostic(diagnostic, source)).toContain(diagnostic.message);
  }
  return flow !== undefined;
}

const fixture = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../fixtures/check/${name}`, import.meta.url)), 'utf8');
const SEEDS = [
  'placeholders.yaml',
  'nested.yaml',
  'reuse.yaml',
  'shell.yaml',
  'contracts.yaml',
  'conditions.json',
  'wrong-types.json',
];

describe('however mangled, a file gets an answer', () => {
  it('bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.constantFrom('a.yaml', 'a.json'), async (bytes, file) => {
        await expectAnswer(file, Buffer.from(bytes));
      }),
      { numRuns: 300, interruptAfterTimeLimit: 10_000 },
    );
  });

  it('characters that mean something', async () => {
    const unit = fc.constantFrom(
      ...'{}[]:,-?&*!|>\'"%@`#\n\t \\/.ax0',
      'phases',
      'id',
      'task',
      'type',
      ': ',
      '- ',
      '\n  ',
    );
    await fc.assert(
      fc.asyncProperty(fc.string({ unit, maxLength: 120 }), fc.constantFrom('a.yaml', 'a.json'), async (text, file) => {
        await expectAnswer(file, text);
      }),
      { numRuns: 500, interruptAfterTimeLimit: 10_000 },
    );
  });

  it('real files with pieces cut out, doubled, swapped and put elsewhere', async () => {
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      length: fc.nat({ max: 30 }),
      to: fc.double({ min: 0, max: 1, noNaN: true }),
      insert: fc.constantFrom(
        '',
        '{',
        '}',
        '[',
        '"',
        "'",
        '\n',
        ': ',
        '&a ',
        '*a',
        '!!x ',
        '\u0000',
        '\ufeff',
        '__proto__',
        '{steps.a.output}',
      ),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...SEEDS),
        fc.array(edit, { minLength: 1, maxLength: 4 }),
        async (name, edits) => {
          let text = fixture(name);
          for (const { at, length, to, insert } of edits) {
            const from = Math.floor(at * text.length);
            const piece = text.slice(from, from + length);
            const rest = text.slice(0, from) + text.slice(from + length);
            const target = Math.floor(to * rest.length);
            text = rest.slice(0, target) + piece + insert + rest.slice(target);
          }
          await expectAnswer(name, text);
        },
      ),
      { numRuns: 250, interruptAfterTimeLimit: 15_000 },
    );
  });
});

describe('whatever is built from the words of the language', () => {
  const id = fc.constantFrom('a', 'b', 'c', 'd-e', '../x', '', '__proto__', 'toString');
  const text = fc.constantFrom(
    'x',
    '{steps.a.output}',
    '{steps.b.json.n}',
    '{args.q}',
    '{args.toString}',
    '{item.path}',
    '{previous.output}',
    '{loop.iteration}',
    '{{steps.a.output}}',
    '{steps.zz.output}',
    '{steps.a}',
    '',
  );
  const condition = fc.constantFrom('{steps.a.output} == 1', 'true', 'a = b', '', '{steps.b.json.ok} && !{args.q}');
  const command = fc.oneof(fc.array(text, { maxLength: 3 }), text, fc.constantFrom(['sh', '-c', '{args.q}'], ['ls']));
  const branch = fc.record(
    { task: text, run: command, id, agent: fc.constantFrom('scout', 'nobody') },
    { requiredKeys: [] },
  );
  const anything = fc.oneof(fc.constantFrom(null, 1, -1, 'x', true, [], {}), text);
  const { phase } = fc.letrec<{ phase: unknown }>((tie) => ({
    phase: fc.record(
      {
        id,
        type: fc.constantFrom(
          'agent',
          'script',
          'map',
          'parallel',
          'reduce',
          'gate',
          'approval',
          'flow',
          'loop',
          'tournament',
          'race',
          'expand',
          'x',
        ),
        task: text,
        run: command,
        env: fc.dictionary(fc.constantFrom('A', 'B b'), text),
        input: text,
        over: fc.oneof(text, fc.array(text)),
        as: fc.constantFrom('item', 'file', 'args', 'x y'),
        from: fc.array(id, { maxLength: 2 }),
        dependsOn: fc.array(id, { maxLength: 2 }),
        when: condition,
        until: condition,
        eval: fc.array(condition, { maxLength: 2 }),
        branches: fc.array(branch, { maxLength: 3 }),
        use: fc.constantFrom('saved', 'nothing', '{args.q}', '../x.yaml'),
        with: fc.dictionary(fc.constantFrom('x', 'y'), anything),
        def: fc.oneof(
          text,
          fc.array(tie('phase'), { maxLength: 2 }),
          fc.record({ phases: fc.array(tie('phase'), { maxLength: 2 }) }),
        ),
        cache: fc.record(
          {
            scope: fc.constantFrom('cross-run', 'off', 'run-only'),
            ttl: fc.constantFrom('1h', 0, 'x'),
            fingerprint: fc.array(fc.constantFrom('git:HEAD', 'file:{item}', 'x', 'env:A')),
          },
          { requiredKeys: [] },
        ),
        idempotent: fc.boolean(),
        final: fc.boolean(),
        timeout: fc.constantFrom('1m', 0, 5, 'x'),
        retry: fc.record({ max: fc.constantFrom(0, 3, -1) }),
        output: fc.constantFrom('json', 'text'),
        cwd: fc.constantFrom('temp', 'src', '/etc', '{args.q}'),
        outputs: fc.array(fc.constantFrom('dist/**', '../x')),
        score: fc.record({
          scorers: fc.array(
            fc.record({ type: fc.constantFrom('contains', 'regex'), value: text }, { requiredKeys: ['type'] }),
          ),
        }),
        expect: anything,
      },
      { requiredKeys: ['id'] },
    ),
  }));
  const flow = fc.record(
    {
      name: fc.constantFrom('n', 'a b', 5),
      args: fc.dictionary(
        fc.constantFrom('q', 'toString'),
        fc.record({ type: fc.constantFrom('number', 'json', 'x'), default: anything }, { requiredKeys: [] }),
      ),
      incremental: fc.boolean(),
      strictInterpolation: fc.boolean(),
      defaults: fc.record(
        { cache: fc.constant({ scope: 'cross-run' }), cwd: fc.constantFrom('temp', '..') },
        { requiredKeys: [] },
      ),
      phases: fc.array(phase, { maxLength: 4 }),
      chain: fc.array(fc.oneof(text, fc.record({ task: text })), { maxLength: 2 }),
    },
    { requiredKeys: ['phases'] },
  );

  it('has the same answer in both notations, generated ones too, and what passes can be run', async () => {
    await fc.assert(
      fc.asyncProperty(flow, async (value) => {
        const json = await expectAnswer('a.json', JSON.stringify(value));
        expect(await expectAnswer('a.yaml', stringify(value, { aliasDuplicateObjects: false }))).toBe(json);
        const generated = await expectAnswer('a.json', JSON.stringify(value), 'generated');
        if (generated) expect(json).toBe(true);
      }),
      { numRuns: 100, interruptAfterTimeLimit: 20_000 },
    );
  });

  it('is often right, so that the test above sees both sides', async () => {
    const tame = fc
      .uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 })
      .chain((ids) =>
        fc.tuple(
          ...ids.map((name) =>
            fc.record(
              { id: fc.constant(name), task: fc.constantFrom('x', '{args.q}'), when: fc.constant('true') },
              { requiredKeys: ['id', 'task'] },
            ),
          ),
        ),
      );
    await fc.assert(
      fc.asyncProperty(tame, async (phases) => {
        expect(await expectAnswer('a.json', JSON.stringify({ phases }))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});

describe('size', () => {
  it('a flow of 1,000 phases is checked in well under a second', async () => {
    const phases = Array.from({ length: 1000 }, (_, i) => ({
      id: `p${i}`,
      type: 'script',
      run: ['echo', i > 0 ? `{steps.p${i - 1}.output}` : 'x'],
      cache: { scope: 'cross-run', fingerprint: ['file:package.json'] },
    }));
    const text = JSON.stringify({ phases });
    const world = diskWorld(project);
    const start = performance.now();
    const { flow } = await checkFlowText({ file: 'a.json', text, world });
    expect(flow?.phases).toHaveLength(1000);
    expect(performance.now() - start).toBeLessThan(1500);
  });

  it('a file with nothing but mistakes is bounded too', async () => {
    const phases = Array.from({ length: 5000 }, (_, i) => ({ id: `p${i}`, nope: i, task: `{steps.q${i}.output}` }));
    const start = performance.now();
    const { diagnostics } = await checkFlowText({
      file: 'a.json',
      text: JSON.stringify({ phases }),
      world: diskWorld(project),
    });
    expect(diagnostics.length).toBeLessThanOrEqual(500);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('more phases than allowed are refused', async () => {
    const phases = Array.from({ length: 50_001 }, (_, i) => ({ id: `p${i}`, task: 'x' }));
    const { flow, diagnostics } = await checkFlowText({
      file: 'a.json',
      text: JSON.stringify({ phases }),
      world: diskWorld(project),
    });
    expect(flow).toBeUndefined();
    expect(diagnostics).toMatchObject([{ code: 'out-of-range' }]);
  });
});
