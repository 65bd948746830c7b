import { expect, test } from 'vitest';
import { LineSplitter } from '../../src/util/lines.js';

function split(bytes: Buffer, chunk: number): string[] {
  const splitter = new LineSplitter(30_000_000);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += chunk) lines.push(...splitter.push(bytes.subarray(at, at + chunk)));
  const rest = splitter.end();
  return rest === undefined ? lines : [...lines, rest];
}

test('lines come out whole, however the bytes are cut', () => {
  const text = 'ä😀\u2028\u2029\r\n\n{"a":1}\nthe rest';
  const expected = text.split('\n');
  for (let chunk = 1; chunk < 40; chunk += 1) expect(split(Buffer.from(text), chunk)).toEqual(expected);
});

test('nothing after the last line end is no line', () => {
  expect(split(Buffer.from('a\nb\n'), 3)).toEqual(['a', 'b']);
});

test('a line of 20 MB in small pieces costs no quadratic time', () => {
  const startedAt = performance.now();
  expect(split(Buffer.alloc(20_000_000, 'x'), 8192)[0]?.length).toBe(20_000_000);
  expect(performance.now() - startedAt).toBeLessThan(3_000);
});

test('a line without an end is given up, and takes no more memory than is allowed', () => {
  const splitter = new LineSplitter(100_000);
  for (let pushed = 0; pushed < 1_000; pushed += 1) splitter.push(Buffer.alloc(64 * 1024, 'x'));
  expect(splitter.isTooLong).toBe(true);
  expect(splitter.end()?.length ?? 0).toBeLessThanOrEqual(100_000);
});
