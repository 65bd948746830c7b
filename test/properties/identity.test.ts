import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Identity, KEY_VERSION, keyOf, recomputeKey } from '../../src/memo/identity.js';
import { storedIdentity } from '../../src/memo/stored-identity.js';
import type { JsonValue } from '../../src/model/json.js';

const IDENTITY: Identity = {
  version: KEY_VERSION,
  flow: 'flow',
  phase: 'phase',
  kind: 'agent',
  body: { task: 'write about cats', list: ['a b', 'c'], number: 1, nothing: null, nested: { x: { y: 'z' } } },
  agent: {
    runner: 'pi',
    model: 'm-1',
    thinking: 'high',
    tools: ['read'],
    systemPrompt: 'be brief',
    settings: { a: [] },
  },
  env: { MODE: 'fast', EMPTY: '' },
  context: [{ path: 'README.md', sent: 'aa', whole: 'bb' }],
  output: 'text',
  expect: { type: 'object', required: ['a'] },
  cwd: '.',
  fingerprints: [
    { entry: 'env:TOKEN', value: 'hunter2' },
    { entry: 'file:package.json', value: 'digest' },
    { entry: 'glob:src/**', value: 'digest2', parts: { 'src/a.ts': 'd' } },
  ],
  upstream: [
    { id: 'a', files: { 'dist/x': 'digest:420' } },
    { id: 'b', key: 'k' },
    { id: 'c', status: 'skipped' },
  ],
  outputs: ['dist/**'],
  ordinal: 0,
};

/** Every leaf of the value, as a way to it. */
function leaves(value: JsonValue, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.length === 0
    ? [path]
    : entries.flatMap(([name, member]) => leaves(member as JsonValue, [...path, name]));
}

function changedAt(path: readonly (string | number)[], change: (old: unknown) => unknown): Identity {
  const copy = structuredClone(IDENTITY) as unknown as Record<string | number, unknown>;
  let place = copy;
  for (const name of path.slice(0, -1)) place = place[name] as Record<string | number, unknown>;
  const last = path.at(-1)!;
  place[last] = change(place[last]);
  return copy as unknown as Identity;
}

const deciding = leaves(IDENTITY as unknown as JsonValue).filter((path) => !path.includes('parts'));

describe('the key', () => {
  test('is a full SHA-256', () => {
    expect(keyOf(IDENTITY)).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each(deciding.map((path) => [path.join('.'), path] as const))('moves when %s changes', (_name, path) => {
    const changes: ((old: unknown) => unknown)[] = [
      () => 'something else',
      () => undefined,
      () => ({ wrapped: 'x' }),
      (old) => (typeof old === 'string' ? `${old} ` : `${old}`),
      (old) => [old],
    ];
    const keys = changes.map((change) => keyOf(changedAt(path, change)));
    for (const key of keys) expect(key).not.toBe(keyOf(IDENTITY));
    if (IDENTITY[path[0] as keyof Identity] !== null) expect(new Set(keys).size).toBeGreaterThan(3);
  });

  test('covers every field there is: a forgotten one would be a stale hit', () => {
    const covered = new Set(deciding.map(([field]) => field));
    expect([...covered].sort()).toEqual(Object.keys(IDENTITY).sort());
  });

  test('stays when only messages, key order or the order of inputs differ', () => {
    const key = keyOf(IDENTITY);
    const reversed = Object.fromEntries(Object.entries(IDENTITY).reverse()) as unknown as Identity;
    expect(keyOf(reversed)).toBe(key);
    expect(keyOf({ ...IDENTITY, env: { EMPTY: '', MODE: 'fast' } })).toBe(key);
    expect(keyOf({ ...IDENTITY, fingerprints: [...IDENTITY.fingerprints].reverse() })).toBe(key);
    expect(keyOf({ ...IDENTITY, upstream: [...IDENTITY.upstream].reverse() })).toBe(key);
    expect(keyOf({ ...IDENTITY, references: { a: 'digest' } })).toBe(key);
    expect(keyOf(changedAt(['fingerprints', 2, 'parts'], () => ({ 'src/other.ts': 'e' })))).toBe(key);
  });

  test('does not mix up neighbours', () => {
    const pairs: [Partial<Identity>, Partial<Identity>][] = [
      [
        { flow: 'ab', phase: 'c' },
        { flow: 'a', phase: 'bc' },
      ],
      [{ body: { argv: ['a b'] } }, { body: { argv: ['a', 'b'] } }],
      [{ body: { argv: ['a\0b', 'c'] } }, { body: { argv: ['a', 'b\0c'] } }],
      [{ env: { A: 'x', B: '' } }, { env: { A: '', B: 'x' } }],
      [{ env: { A: '1' } }, { env: { A: '1', B: '' } }],
      [{ outputs: ['a,b'] }, { outputs: ['a', 'b'] }],
    ];
    for (const [a, b] of pairs) expect(keyOf({ ...IDENTITY, ...a })).not.toBe(keyOf({ ...IDENTITY, ...b }));
  });

  test('is the same in another process, another folder and another locale', () => {
    const program = `
      import { createHash } from 'node:crypto';
      const sorted = (v) => Array.isArray(v) ? v.map(sorted) : v && typeof v === 'object'
        ? Object.fromEntries(Object.keys(v).sort().map((k) => [k, sorted(v[k])])) : v;
      const text = (v) => JSON.stringify(sorted(v));
      const identity = JSON.parse(process.argv[1]);
      const byText = (a, b) => (text(a) < text(b) ? -1 : 1);
      identity.fingerprints = identity.fingerprints.map(({ entry, value }) => ({ entry, value })).sort(byText);
      identity.upstream = identity.upstream.sort(byText);
      console.log(createHash('sha256').update(text(identity)).digest('hex'));`;
    const result = spawnSync(process.execPath, ['--input-type=module', '-e', program, JSON.stringify(IDENTITY)], {
      cwd: '/',
      env: { LC_ALL: 'tr_TR.UTF-8', TZ: 'Asia/Tokyo' },
      encoding: 'utf8',
    });
    expect(result.stdout.trim()).toBe(keyOf(IDENTITY));
  });

  test('differs for different bodies, whatever they are', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const key = (value: unknown) => keyOf({ ...IDENTITY, body: { value: value as JsonValue } });
        expect(key(a) === key(b)).toBe(fc.stringify(sortKeys(a)) === fc.stringify(sortKeys(b)));
      }),
    );
  });
});

describe('a stored identity', () => {
  const exact: Identity = { ...IDENTITY, env: {}, fingerprints: IDENTITY.fingerprints.slice(1) };
  const options = { seal: (value: string) => `sealed:00000000:${value.length}`, secrets: [] };

  test('tells its key where nothing was sealed or shortened, and only then', () => {
    expect(recomputeKey(storedIdentity(exact, options))).toBe(keyOf(exact));
    expect(recomputeKey(storedIdentity(IDENTITY, options))).toBeUndefined();
    const long = { ...exact, body: { task: 'x'.repeat(20_000) } };
    expect(recomputeKey(storedIdentity(long, options))).toBeUndefined();
    expect(recomputeKey({ ...storedIdentity(exact, options), cwd: 'elsewhere' })).not.toBe(keyOf(exact));
  });

  test('survives being written and read', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const identity = { ...exact, body: { value: JSON.parse(JSON.stringify(value)) as JsonValue } };
        const written = JSON.parse(JSON.stringify(storedIdentity(identity, options)));
        expect(recomputeKey(written) ?? keyOf(identity)).toBe(keyOf(identity));
      }),
    );
  });
});

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sortKeys((value as never)[name])]),
  );
}
