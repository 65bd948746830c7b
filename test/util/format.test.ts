import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/util/duration.js';
import { formatBytes, formatCount, formatMoney, plural } from '../../src/util/format.js';
import { nearestName } from '../../src/util/nearest.js';
import { parseSize } from '../../src/util/size.js';

describe('durations', () => {
  it.each([
    ['90s', 90_000],
    ['5m', 300_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['2d', 172_800_000],
    ['1w', 604_800_000],
    ['10 s', 10_000],
    ['1500', 1_500],
    [1_500, 1_500],
    [0, 0],
  ])('reads %j', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', 'soon', '5 minutes', '-5s', '1h30m', '1e3s', 'NaN', '99999999999999999w', '5M'])('refuses %j', (text) =>
    expect(parseDuration(text)).toBeUndefined(),
  );
  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses the number %d', (n) =>
    expect(parseDuration(n)).toBeUndefined(),
  );

  it.each([
    [0, '0ms'],
    [340, '340ms'],
    [999.7, '1s'],
    [1_234, '1.2s'],
    [9_960, '10s'],
    [12_000, '12s'],
    [59_700, '1m'],
    [360_000, '6m'],
    [90_000, '1m 30s'],
    [754_000, '13m'],
    [7 * 3_600_000, '7h'],
    [3_900_000, '1h 5m'],
    [26 * 3_600_000, '1d 2h'],
    [90 * 86_400_000, '90d'],
  ])('shows %d ms as %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  it('never shows a unit that is full (60s, 24h …)', () => {
    for (let ms = 1; ms < 40 * 86_400_000; ms = Math.ceil(ms * 1.003)) {
      expect(formatDuration(ms)).not.toMatch(/\b(1000ms|60s|60m|24h)\b/);
    }
  });
});

describe('amounts', () => {
  it.each([
    [0, '$0.00'],
    [0.04, '$0.04'],
    [12.3, '$12.30'],
    [0.0012, '$0.0012'],
    [0.00035, '$0.00035'],
    [0.000001, '<$0.00001'],
  ])('shows %d dollars as %s', (usd, text) => expect(formatMoney(usd)).toBe(text));

  it.each([
    [0, '0'],
    [950, '950'],
    [12_345, '12.3k'],
    [999_990, '1M'],
    [250_000, '250k'],
    [1_200_000, '1.2M'],
  ])('shows %d tokens as %s', (count, text) => expect(formatCount(count)).toBe(text));

  it.each([
    [0, '0 B'],
    [512, '512 B'],
    [1_536, '1.5 KB'],
    [1_048_575, '1 MB'],
    [1024 ** 3, '1 GB'],
  ])('shows %d bytes as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it('counts things', () => {
    expect([plural(1, 'phase'), plural(1_200, 'phase'), plural(2, 'entry', 'entries')]).toEqual([
      '1 phase',
      '1,200 phases',
      '2 entries',
    ]);
  });

  it.each([
    ['500MB', 500 * 1024 ** 2],
    ['1GiB', 1024 ** 3],
    ['200k', 204_800],
    ['12', 12],
    [12, 12],
    ['1.5 kb', 1_536],
  ])('reads the size %j', (text, bytes) => expect(parseSize(text)).toBe(bytes));
  it.each(['', 'big', '-1', '1 XB', '1e9'])('refuses the size %j', (text) => expect(parseSize(text)).toBeUndefined());
});

describe('nearest name', () => {
  it('finds what was meant and stays silent when nothing is close', async () => {
    expect(await nearestName('stauts', ['status', 'list', 'show'])).toBe('status');
    expect(await nearestName('RUN', ['run', 'runs'])).toBe('run');
    expect(await nearestName('frobnicate', ['run', 'list'])).toBeUndefined();
    expect(await nearestName('x', [])).toBeUndefined();
  });
});
