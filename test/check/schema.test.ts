import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Code } from '../../src/check/codes.js';
import { KINDS } from '../../src/model/kind.js';
import { flowJsonSchema } from '../../src/model/schema/published.js';
import { check, makeProject } from './support.js';

const schema = flowJsonSchema();
const validate = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
}).compile(JSON.parse(JSON.stringify(schema)));
const project = makeProject();

/** What a schema can see; references, conditions and the outside are the checker's alone. */
const STRUCTURE: ReadonlySet<string> = new Set<Code>([
  'unknown-field',
  'unknown-kind',
  'wrong-type',
  'missing-field',
  'bad-id',
]);

async function structureErrors(value: unknown): Promise<readonly string[]> {
  const { diagnostics } = await check(value, project);
  return diagnostics
    .filter(({ code, severity }) => severity === 'error' && STRUCTURE.has(code))
    .map(({ message }) => message);
}

const VALID: readonly unknown[] = [
  { task: 'x' },
  { name: 'n', chain: ['a', { task: 'b', agent: 'scout' }] },
  { $schema: './x.json', tasks: ['a'], args: { a: { type: 'number', minimum: 1 } }, defaults: { retry: { max: 0 } } },
  { phases: [{ id: 'a', task: 'x', timeout: '10m', cache: { scope: 'cross-run', ttl: 5000, fingerprint: [] } }] },
  {
    phases: [
      { id: 'a', type: 'script', run: 'ls', env: { A: 1 } },
      { id: 'b', type: 'approval' },
    ],
  },
  { phases: [{ id: 'a', task: 'x', over: [1], shareContext: true }] },
  { phases: [{ id: 'a', type: 'parallel', branches: [{ task: 'x', retry: { max: 1 }, type: 'agent' }] }] },
  { phases: [{ id: 'a', type: 'flow', def: { phases: [{ id: 'b', task: 'x' }] } }] },
  { phases: [{ id: 'a', type: 'expand', def: [{ id: 'b', type: 'loop', task: 'x' }], with: { a: 1 } }] },
  {
    phases: [
      { id: 'a', type: 'gate', eval: ['1'] },
      { id: 'b', type: 'reduce', from: ['a'], task: 'x' },
    ],
  },
];

const INVALID: readonly unknown[] = [
  {},
  { phases: [] },
  { phases: [{ id: 'a' }] },
  { phases: [{ task: 'x' }] },
  { phases: [{ id: 'a b', task: 'x' }] },
  { phases: [{ id: 'a', task: 'x', tsak: 'y' }] },
  { phases: [{ id: 'a', type: 'skript', run: ['x'] }] },
  { phases: [{ id: 'a', type: 'script', run: [] }] },
  { phases: [{ id: 'a', task: 'x', timeout: 'soon' }] },
  { phases: [{ id: 'a', task: 'x', retry: { max: -1 } }] },
  { phases: [{ id: 'a', type: 'map', over: [1], task: 'x', run: ['y'] }] },
  { phases: [{ id: 'a', type: 'race', branches: [{ task: 'x' }] }] },
  { phases: [{ id: 'a', type: 'parallel', branches: [{ task: 'x', nope: 1 }] }] },
  { phases: [{ id: 'a', type: 'flow' }] },
  { phases: [{ id: 'a', type: 'flow', def: { phases: [{ id: 'b' }] } }] },
  { phases: [{ id: 'a', type: 'gate' }] },
  { phases: [{ id: 'a', type: 'gate', score: { scorers: [{ type: 'vibes' }] } }] },
  { task: 'x', chain: ['y'] },
  { args: { a: { typ: 'x' } }, task: 'x' },
];

const seen = new Set<string>();
function takesItsExamples(field: Record<string, unknown>, at: string): void {
  const text = JSON.stringify(field);
  if (seen.has(text)) return;
  seen.add(text);
  const valid = new Ajv({ strict: false }).compile(JSON.parse(text));
  for (const example of field['examples'] as unknown[])
    expect(valid(example), `${at}: ${JSON.stringify(example)}`).toBe(true);
}

describe('the published schema', () => {
  it.each(VALID)('takes %j', async (value) => {
    expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
    const { flow, diagnostics } = await check(value, project);
    expect(flow, JSON.stringify(diagnostics)).toBeDefined();
  });

  it.each(INVALID)('refuses %j, and so does the checker', async (value) => {
    expect(validate(value)).toBe(false);
    expect((await check(value, project)).flow).toBeUndefined();
  });

  it('says of every field what it is, with an example that it takes itself', () => {
    let fields = 0;
    const visit = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const { properties, ...rest } = node as { properties?: Record<string, Record<string, unknown>> };
      for (const [name, field] of Object.entries(properties ?? {})) {
        const at = `${path}.${name}`;
        if ('const' in field || ('minItems' in field && Object.keys(field).length === 1)) continue;
        expect(field, at).toMatchObject({
          title: expect.stringMatching(/./),
          description: expect.stringMatching(/\.$|…$|`$/),
        });
        expect(field['examples'], at).toBeInstanceOf(Array);
        // A definition refers to the whole schema; its examples are flows that other tests check.
        if (!JSON.stringify(field).includes('"$ref"')) takesItsExamples(field, at);
        fields += 1;
        visit(field, at);
      }
      for (const [name, inner] of Object.entries(rest)) if (name !== 'examples') visit(inner, `${path}/${name}`);
    };
    visit(schema, '');
    expect(fields).toBeGreaterThan(300);
  });

  it('is discriminated by the type of a phase', () => {
    for (const kind of KINDS) expect(schema['definitions']).toHaveProperty(`${kind}Phase.properties.type`);
    expect(validate({ phases: [{ id: 'a', type: 'script', task: 'x' }] })).toBe(false);
  });

  /** No YAML that another parser takes as we do. */
  const NO_TREE = ['syntax-yaml.yaml', 'tags.yaml', 'duplicate-keys.yaml', 'forbidden-names.yaml'];

  it('agrees with the checker on the fixtures', async () => {
    const root = fileURLToPath(new URL('../fixtures/check', import.meta.url));
    for (const file of readdirSync(root).filter((name) => name.endsWith('.yaml'))) {
      if (file.startsWith('yaml-') || NO_TREE.includes(file)) continue;
      const value: unknown = parse(readFileSync(`${root}/${file}`, 'utf8'));
      const errors = await structureErrors(value);
      if (errors.length > 0) expect(validate(value), `${file}: ${errors}`).toBe(false);
    }
  });
});

describe('schema and checker', () => {
  /** Takes a valid flow apart at one place: a field gone, renamed, or with a value of another type. */
  const mutate = (flow: unknown, pick: number, how: 'drop' | 'rename' | 'replace', replacement: unknown): unknown => {
    const places: { holder: Record<string, unknown>; name: string }[] = [];
    const copy = structuredClone(flow);
    const visit = (node: unknown): void => {
      if (Array.isArray(node)) for (const item of node) visit(item);
      else if (typeof node === 'object' && node !== null) {
        for (const [name, value] of Object.entries(node)) {
          places.push({ holder: node as Record<string, unknown>, name });
          visit(value);
        }
      }
    };
    visit(copy);
    const { holder, name } = places[pick % places.length]!;
    const value = holder[name];
    delete holder[name];
    if (how === 'rename') holder[`${name}x`] = value;
    if (how === 'replace') holder[name] = replacement;
    return copy;
  };

  it('agree on whether the structure is right', async () => {
    const replacement = fc.constantFrom(null, 0, -1, 1.5, '', 'text', true, [], {}, [1], ['a'], { a: 1 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...VALID),
        fc.nat(),
        fc.constantFrom('drop' as const, 'rename' as const, 'replace' as const),
        replacement,
        async (flow, pick, how, value) => {
          const mutated = mutate(flow, pick, how, value);
          const { flow: passed, diagnostics } = await check(mutated, project);
          if (passed) expect(validate(mutated), JSON.stringify({ mutated, errors: validate.errors })).toBe(true);
          if (!validate(mutated)) expect(diagnostics.some(({ severity }) => severity === 'error')).toBe(true);
          else expect(await structureErrors(mutated), JSON.stringify(mutated)).toEqual([]);
        },
      ),
      { numRuns: 400, interruptAfterTimeLimit: 15_000 },
    );
  });
});
