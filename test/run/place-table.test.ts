import { expect, test } from 'vitest';
import { PlaceTable } from '../../src/run/journal/place-table.js';
import { sha256Hex } from '../../src/util/digest.js';

const key = (n: number) => sha256Hex(String(n));

test('places of many lines are found again, and none that was not set or was forgotten', () => {
  const table = new PlaceTable();
  const model = new Map<string, { offset: number; length: number }>();
  // Beyond 2^32: the journal of a large batch.
  for (let n = 0; n < 5_000; n += 1) {
    const place = { offset: n * 1_000_000_007, length: 1 + (n % 90) };
    table.set(key(n), place);
    model.set(key(n), place);
  }
  for (let n = 0; n < 5_000; n += 7) {
    table.delete(key(n));
    model.delete(key(n));
  }
  for (let n = 0; n < 5_000; n += 21) {
    const place = { offset: 0, length: n + 1 };
    table.set(key(n), place);
    model.set(key(n), place);
  }
  for (let n = 0; n < 6_000; n += 1) {
    expect(table.get(key(n)), `place of ${n}`).toEqual(model.get(key(n)));
    expect(table.has(key(n))).toBe(model.has(key(n)));
  }
  table.delete(key(7_000));
  expect(table.has(key(7_000))).toBe(false);
});
