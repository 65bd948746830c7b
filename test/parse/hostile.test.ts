import { describe, expect, it } from 'vitest';
import { parseText } from '../../src/parse/parse.js';

/** Generous: the point is the difference between a bound and none, on a machine that does other things too. */
const LIMIT_MS = 8_000;

async function codesOf(file: string, text: string): Promise<readonly string[]> {
  const start = performance.now();
  const parsed = await parseText(file, text);
  expect(performance.now() - start).toBeLessThan(LIMIT_MS);
  return 'problems' in parsed ? [...new Set(parsed.problems.map(({ code }) => code))] : [];
}

const bomb = (levels: number) =>
  [
    'a0: &a0 [x, x, x, x, x, x, x, x, x, x]',
    ...Array.from({ length: levels }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(', ')}]`),
  ].join('\n');

describe('a file made to hurt is put down with one clear line, in bounded time', () => {
  it.each([
    ['lists in lists', 'a.yaml', '['.repeat(60_000)],
    ['closed lists in lists', 'a.yaml', `${'['.repeat(60_000)}${']'.repeat(60_000)}`],
    ['maps in maps', 'a.yaml', '{a: '.repeat(60_000)],
    ['dashes in dashes', 'a.yaml', '- '.repeat(60_000)],
    ['question marks', 'a.yaml', '? '.repeat(60_000)],
    ['names in a line', 'a.yaml', 'a: '.repeat(60_000)],
    ['indentation', 'a.yaml', Array.from({ length: 1_400 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['lists in JSON', 'a.json', '['.repeat(60_000)],
    ['objects in JSON', 'a.json', '{"a":'.repeat(60_000)],
    ['closed objects in JSON', 'a.json', `${'{"a":'.repeat(60_000)}1${'}'.repeat(60_000)}`],
  ])('60,000 levels: %s', async (_, file, text) => {
    expect(await codesOf(file, text)).toEqual(['too-deep']);
  });

  it('depth that only aliases make counts too', async () => {
    const nested = (inner: string) => `${'['.repeat(60)}${inner}${']'.repeat(60)}`;
    expect(await codesOf('a.yaml', `a: &a ${nested('1')}\nb: ${nested('*a')}`)).toEqual(['too-deep']);
  });

  it('alias bombs', async () => {
    expect(await codesOf('a.yaml', bomb(20))).toEqual(['alias']);
    expect(await codesOf('a.yaml', bomb(2))).toEqual([]);
    expect(await codesOf('a.yaml', 'a: &a [*a]')).toEqual(['alias']);
    expect(await codesOf('a.yaml', 'a: &a { b: *a }')).toEqual(['alias']);
    expect(await codesOf('a.yaml', 'a: *nowhere')).toEqual(['syntax']);
  });

  it.each([
    ['tags', '! '],
    ['anchors', '&a '],
    ['directives', '%\n'],
  ])('%s without end are not even composed', async (_, piece) => {
    const parsed = await parseText('a.yaml', piece.repeat(300_000));
    expect(parsed).toMatchObject({ problems: [{ code: 'syntax', message: expect.stringContaining('more than') }] });
  });

  it.each([
    ['documents', '---\n'.repeat(60_000)],
    ['an open quote', `"${'a\n'.repeat(300_000)}`],
    ['colons', ':'.repeat(500_000)],
  ])('a megabyte of %s', async (_, text) => {
    expect(await codesOf('a.yaml', text)).toEqual(['syntax']);
  });

  it.each([
    ['comments', 'a.yaml', '#\n'.repeat(200_000)],
    ['spaces', 'a.yaml', ' '.repeat(1_000_000)],
    ['names', 'a.yaml', Array.from({ length: 40_000 }, (_, i) => `k${i}: 1`).join('\n')],
    ['one text', 'a.yaml', `a: |\n${'  a\n'.repeat(200_000)}`],
    [
      'names in JSON',
      'a.json',
      JSON.stringify(Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, 1]))),
    ],
  ])('many %s are only many', async (_, file, text) => {
    expect(await codesOf(file, text)).toEqual([]);
  });

  it('a file over its bound is not even parsed', async () => {
    expect(await codesOf('a.yaml', 'a'.repeat(1024 * 1024 + 1))).toEqual(['too-large']);
    expect(await codesOf('a.json', '['.repeat(8 * 1024 * 1024 + 1))).toEqual(['too-large']);
  });

  it('numbers that JSON cannot say', async () => {
    expect(await codesOf('a.yaml', 'a: .inf\nb: .nan')).toEqual(['bad-number']);
  });

  it('names that are no texts', async () => {
    expect(await codesOf('a.yaml', '? [a]\n: 1')).toEqual(['syntax']);
    expect(await codesOf('a.yaml', 'a: 1\n---\nb: 2')).toEqual(['syntax']);
  });
});
