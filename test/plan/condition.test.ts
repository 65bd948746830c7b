import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateCondition, isTruthy } from '../../src/plan/condition-evaluate.js';
import { conditionRefs, parseCondition } from '../../src/plan/condition-parse.js';
import type { Lookup } from '../../src/plan/template.js';

function evaluate(text: string, values: Record<string, unknown> = {}) {
  const parsed = parseCondition(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.message}`);
  const lookup: Lookup = ({ text: name }) =>
    Object.hasOwn(values, name) ? { found: true, value: values[name] } : { found: false };
  return evaluateCondition(parsed.condition, lookup);
}
const holds = (text: string, values: Record<string, unknown> = {}) => {
  const result = evaluate(text, values);
  if (result.error !== undefined) throw new Error(result.error);
  return result.value;
};

describe('conditions', () => {
  it.each([
    ['true', true],
    ['false', false],
    ['no', false],
    ['OFF', false],
    ['"null"', false],
    ['0', false],
    ['0.0', false],
    ['"0"', false],
    ['"0.0"', true],
    ['yes', true],
    ['!no', true],
    ['!!yes', true],
    ['1 == 1.0', true],
    ['"1" == 1', true],
    ['10 > 9', true],
    ['"10" > "9"', true],
    ['"a10" > "a9"', false],
    ['abc < abd', true],
    ['deep == deep', true],
    ['deep != quick', true],
    ['"a b" contains " "', true],
    ['abc contains d', false],
    ['1 == 2 || 2 == 2', true],
    ['1 == 1 && 2 == 3', false],
    ['1 == 2 && 1 == 1 || 3 == 3', true],
    ['1 == 1 || 1 == 2 && 1 == 3', true],
    ['(1 == 1 || 1 == 2) && 1 == 3', false],
    ['!1 == 2', true],
    ['-1 < 0', true],
    ['1e3 == 1000', true],
    ['"file.test.ts" matches "\\.test\\.ts$"', true],
    ['ABC matches /^abc$/i', true],
    ['abc matches b', true],
  ])('%s is %s', (text, expected) => {
    expect(holds(text)).toBe(expected);
  });

  it.each([
    ['{args.log} contains BUILD SUCCESS', true],
    ['{args.log} contains BUILD  SUCCESS', false],
    ['{args.log} contains BUILD FAILURE', false],
    ['{args.log} contains BUILD SUCCESS && 1 == 2', false],
    ['1 == 2 || {args.log} contains BUILD SUCCESS', true],
    ['({args.log} contains all done!) && 1 == 1', true],
    ['!({args.log} contains 2 errors)', true],
    ['{args.log} contains BUILD {args.word}', true],
    ['{args.log} contains took 3 (three) s', true],
    ['({args.log} contains took 3 (three) s)', true],
  ])('%s takes the rest of its side as one text: %s', (text, expected) => {
    const values = { 'args.log': 'BUILD SUCCESS, took 3 (three) s, all done!', 'args.word': 'SUCCESS' };
    expect(holds(text, values)).toBe(expected);
  });

  it.each([
    '{args.a} contains x == y',
    '{args.a} contains x y == z',
    '{args.a} contains "x" y',
    'a contains b contains c',
  ])('%s is no text of plain words, and an error', (text) => expect(parseCondition(text).ok).toBe(false));

  it('reads values, and what is missing as empty', () => {
    expect(holds('{steps.a.json.n} >= 0.8', { 'steps.a.json.n': 0.85 })).toBe(true);
    expect(holds('{steps.a.json.n} >= 0.8', { 'steps.a.json.n': '0.85' })).toBe(true);
    expect(holds('{args.x} == null', { 'args.x': null })).toBe(true);
    expect(evaluate('{args.x} == ""')).toEqual({ value: true, unresolved: ['args.x'] });
    expect(evaluate('!{args.x}')).toEqual({ value: true, unresolved: ['args.x'] });
  });

  it('looks inside lists, objects and texts', () => {
    expect(holds('{args.list} contains b', { 'args.list': ['a', 'b'] })).toBe(true);
    expect(holds('{args.list} contains 2', { 'args.list': ['1', '2'] })).toBe(true);
    expect(holds('{args.map} contains key', { 'args.map': { key: 0 } })).toBe(true);
    expect(holds('{args.map} contains toString', { 'args.map': {} })).toBe(false);
    expect(holds('{args.text} contains PASS', { 'args.text': 'all PASS' })).toBe(true);
  });

  it('reads placeholders in quoted texts', () => {
    expect(holds('"{args.a}-{args.b}" == "1-2"', { 'args.a': 1, 'args.b': 2 })).toBe(true);
  });

  it('an injected value stays a value', () => {
    expect(holds('{args.x} == safe', { 'args.x': 'safe || true' })).toBe(false);
    expect(holds('{args.x} == safe', { 'args.x': '") || ("a" == "a' })).toBe(false);
  });

  it('gives each placeholder its place', () => {
    const text = '"a {args.x}" == {steps.b.output}';
    const parsed = parseCondition(text);
    if (!parsed.ok) throw new Error(parsed.message);
    for (const { offset, length, text: inner } of conditionRefs(parsed.condition)) {
      expect(text.slice(offset, offset + length)).toBe(`{${inner}}`);
    }
  });

  it('stops a pattern that takes too long, and says so', () => {
    const start = performance.now();
    const result = evaluate('{args.x} matches /^(a+)+$/', { 'args.x': `${'a'.repeat(40)}!` });
    expect(result.error).toMatch(/longer than/);
    expect(performance.now() - start).toBeLessThan(3000);
    expect(holds('abc matches /b/')).toBe(true);
  });

  it('a pattern reaches nothing outside of its own small world', () => {
    expect(holds('x matches /process/')).toBe(false);
    expect(parseCondition('x matches /a/g').ok).toBe(false);
  });

  it.each([
    ['a = b', 2],
    ['a & b', 2],
    ['a == ', 2],
    ['(a', 0],
    ['a)', 1],
    ['a b', 2],
    ['a == "x', 5],
    ['{nope} == 1', 0],
    ['{steps.x} == 1', 0],
    ['a matches {args.x}', 10],
    ['a matches /(/', 10],
    ['1 < 2 < 3', 6],
  ])('%j is an error at %i', (text, offset) => {
    expect(parseCondition(text)).toMatchObject({ ok: false, offset });
  });

  it.each([
    ['1)', /^this "\)" closes nothing: a "\(" is missing/],
    ['(a) && b)', /^this "\)" closes nothing/],
    ['()', /^a value is missing before "\)"/],
    ['&& a', /^a value is missing before "&&"/],
    ['a (b)', /^"\(" is not expected here/],
    ['a !b', /^"!" is not expected here/],
  ])('%j: the message says what is missing', (text, message) => {
    expect(parseCondition(text)).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  });

  it('refuses nesting and length without bound', () => {
    expect(parseCondition('('.repeat(60_000))).toMatchObject({ message: expect.stringContaining('at most') });
    expect(parseCondition('('.repeat(15_000))).toMatchObject({ message: expect.stringContaining('nested') });
    expect(parseCondition(`${'!'.repeat(10_000)}a`).ok).toBe(true);
    expect(parseCondition(`${'a || '.repeat(50_000)}a`).ok).toBe(false);
  });
});

/** The simplest thing that could be right: build a tree, write it down, and compute its value directly. */
type Literal = { op: 'lit'; value: string | number | boolean | null };
type Model =
  | Literal
  | { op: 'not'; of: Model }
  | { op: 'and' | 'or'; left: Model; right: Model }
  | { op: '==' | '!=' | '<' | '>' | '<=' | '>='; left: Literal; right: Literal };
type Comparison = Extract<Model, { left: Literal }>;

const literal = fc
  .oneof(
    fc.integer({ min: -50, max: 50 }),
    fc.constantFrom('abc', 'ABC', '', 'no', 'false', '7', '07', 'x y', "it's", 'null'),
    fc.boolean(),
    fc.constant(null),
  )
  .map((value) => ({ op: 'lit' as const, value }));
const { tree } = fc.letrec<{ tree: Model }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'tree' },
    literal,
    fc.record({
      op: fc.constantFrom('==' as const, '!=' as const, '<' as const, '>' as const, '<=' as const, '>=' as const),
      left: literal,
      right: literal,
    }),
    fc.record({ op: fc.constant('not' as const), of: tie('tree') }),
    fc.record({ op: fc.constantFrom('and' as const, 'or' as const), left: tie('tree'), right: tie('tree') }),
  ),
}));

function write(model: Model): string {
  if (model.op === 'lit') return typeof model.value === 'string' ? JSON.stringify(model.value) : String(model.value);
  if (model.op === 'not') return `!(${write(model.of)})`;
  if (model.op === 'and' || model.op === 'or') {
    return `(${write(model.left)}) ${model.op === 'and' ? '&&' : '||'} (${write(model.right)})`;
  }
  return `${write(model.left)} ${model.op} ${write(model.right)}`;
}

function compute(model: Model): boolean {
  if (model.op === 'lit') return isTruthy(model.value);
  if (model.op === 'not') return !compute(model.of);
  if (model.op === 'and') return compute(model.left) && compute(model.right);
  if (model.op === 'or') return compute(model.left) || compute(model.right);
  const { left, right } = model as Comparison;
  const numeric = (value: unknown) =>
    typeof value === 'number' ? value : typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined;
  const text = (value: unknown) => (value === null ? '' : String(value));
  const numbers = [numeric(left.value), numeric(right.value)];
  const [a, b] = numbers.every((n) => n !== undefined) ? numbers : [text(left.value), text(right.value)];
  switch (model.op) {
    case '==':
      return a === b;
    case '!=':
      return a !== b;
    case '<':
      return a! < b!;
    case '>':
      return a! > b!;
    case '<=':
      return a! <= b!;
    case '>=':
      return a! >= b!;
  }
}

describe('conditions against a model', () => {
  it('agree on every tree of operators', () => {
    fc.assert(
      fc.property(tree, (model) => {
        expect(holds(write(model))).toBe(compute(model));
      }),
      { numRuns: 500 },
    );
  });

  it('never throw, whatever is written', () => {
    const noise = fc.array(
      fc.oneof(
        fc.constantFrom('&&', '||', '!', '(', ')', '==', 'contains', 'matches', '{args.x}', '"', "'", '/a/', ' '),
        fc.string(),
      ),
    );
    fc.assert(
      fc.property(noise, (pieces) => {
        const parsed = parseCondition(pieces.join(' '));
        if (parsed.ok) evaluateCondition(parsed.condition, () => ({ found: false }));
        else expect(parsed.offset).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 500 },
    );
  });
});
