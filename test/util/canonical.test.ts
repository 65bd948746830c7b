import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalEncode } from '../../src/util/canonical.js';
import { sha256Hex } from '../../src/util/digest.js';

describe('canonical encoding', () => {
  test.each([
    [1, '1'],
    [null, undefined],
    [null, 'null'],
    [true, 'true'],
    [0, -0],
    [Number.NaN, null],
    [Number.NaN, 'NaN'],
    [['a b'], ['a', 'b']],
    [
      ['a\0b', 'c'],
      ['a', 'b\0c'],
    ],
    [['a","b'], ['a', 'b']],
    [{ a: null }, {}],
    [[undefined], []],
    [[undefined], [null]],
    [[], {}],
    [[[1], 2], [[1, 2]]],
    [{ a: { b: 1 } }, { a: 1, b: 1 }],
    ['\ud800', '\ufffd'],
    ['\ud800', '\ud801'],
  ])('%j and %j differ', (a, b) => {
    expect(canonicalEncode(a)).not.toBe(canonicalEncode(b));
    expect(sha256Hex(canonicalEncode(a))).not.toBe(sha256Hex(canonicalEncode(b)));
  });

  test('the order of keys does not matter, at any depth', () => {
    expect(canonicalEncode({ b: { y: 1, x: [2] }, a: 'z' })).toBe(canonicalEncode({ a: 'z', b: { x: [2], y: 1 } }));
  });

  test('a property that is undefined is a property that is not there', () => {
    expect(canonicalEncode({ a: 1, b: undefined })).toBe(canonicalEncode({ a: 1 }));
  });

  test('names that objects inherit are names like any other', () => {
    expect(canonicalEncode(JSON.parse('{"__proto__":1}'))).not.toBe(canonicalEncode({}));
  });

  test('values nested a hundred thousand levels deep are encoded, not a stack overflow', () => {
    const deep = (leaf: string) => JSON.parse(`${'[{"a":'.repeat(50_000)}${leaf}${'}]'.repeat(50_000)}`);
    expect(canonicalEncode(deep('1'))).toBe(canonicalEncode(deep('1')));
    expect(canonicalEncode(deep('1'))).not.toBe(canonicalEncode(deep('"1"')));
    expect(canonicalEncode(deep('{"b":1,"a":2}'))).toBe(canonicalEncode(deep('{"a":2,"b":1}')));
  });

  test('two JSON values encode alike exactly when they are equal', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const same = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)) && sameZeros(a, b);
        expect(canonicalEncode(a) === canonicalEncode(b)).toBe(same);
        expect(canonicalEncode(structuredClone(a))).toBe(canonicalEncode(a));
      }),
    );
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}

function sameZeros(a: unknown, b: unknown): boolean {
  return (
    JSON.stringify(a, minus) === JSON.stringify(b, minus) || JSON.stringify(sorted(a)) !== JSON.stringify(sorted(b))
  );
}
function minus(_name: string, value: unknown): unknown {
  return Object.is(value, -0) ? 'minus zero' : value;
}
