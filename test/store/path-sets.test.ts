import { describe, expect, it } from 'vitest';
import type { PathSet } from '../../src/model/observation.js';
import { pathSetsProblem, withLatest } from '../../src/store/path-sets.js';

const set = (reads: readonly string[], more: Partial<PathSet> = {}): PathSet => ({
  complete: true,
  reads,
  lists: [],
  absent: [],
  present: [],
  marks: reads.map(() => '0123456789abcdef'),
  ...more,
});

describe('path sets that come from elsewhere', () => {
  it.each([
    ['a parent folder', '../secret'],
    ['a folder above in the middle', 'a/../../b'],
    ['an absolute path', '/etc/passwd'],
    ['a NUL', 'a\0b'],
    ['nothing', ''],
    ['a path with an empty name', 'a//b'],
    ['a very long path', 'a'.repeat(5_000)],
  ])('%s is refused, wherever it stands', (_name, path) => {
    expect(pathSetsProblem([set([path])] as never)).toBe('bad path set');
    expect(pathSetsProblem([set([], { absent: [path] })] as never)).toBe('bad path set');
    expect(pathSetsProblem([set([], { present: [path] })] as never)).toBe('bad path set');
    const listed = set([], { lists: [{ path, own: [] }], marks: ['0123456789abcdef'] });
    expect(pathSetsProblem([listed] as never)).toBe('bad path set');
  });

  it('too many sets, none, and what is no set are refused', () => {
    for (const value of [undefined, null, {}, [], Array(9).fill(set(['a'])), [1], [{ ...set(['a']), marks: [] }]]) {
      expect(pathSetsProblem(value as never)).toMatch(/path set/);
    }
    expect(pathSetsProblem([set(['a', '.env', 'a/..b'])] as never)).toBeUndefined();
  });
});

it('the latest set is the first, each set is there once, and the oldest go', () => {
  let sets: readonly PathSet[] = [];
  for (let i = 0; i < 12; i += 1) sets = withLatest(set([`f${i % 10}`]), sets);
  expect(sets.map(({ reads }) => reads[0])).toEqual(['f1', 'f0', 'f9', 'f8', 'f7', 'f6', 'f5', 'f4']);
});
