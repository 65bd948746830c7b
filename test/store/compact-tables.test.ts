import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KeyTable } from '../../src/store/key-table.js';
import { linesOf } from '../../src/store/lines.js';
import { Pace } from '../../src/store/pace.js';
import { RowReader } from '../../src/store/row-reader.js';
import { sortedSlots, sortSlots } from '../../src/store/sort-slots.js';
import { key } from '../contracts/store-support.js';
import { randomFrom } from '../support/random.js';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'taskflow-tables-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test('a table of keys answers as a map would, also for keys that begin alike', () => {
  const random = randomFrom(3);
  const table = new KeyTable();
  const model = new Map<string, number>();
  const names = Array.from({ length: 6_000 }, (_, i) =>
    i % 3 === 0 ? `00000000${key(String(i)).slice(8)}` : key(String(i)),
  );
  for (let i = 0; i < 20_000; i++) {
    const name = names[random.below(names.length)]!;
    expect(table.find(name)).toBe(model.get(name) ?? -1);
    if (random.below(2) === 0) continue;
    if (!model.has(name)) model.set(name, model.size);
    expect(table.add(name)).toBe(model.get(name));
  }
  expect(table.size).toBe(model.size);
  for (const [name, slot] of model) expect(table.keyAt(slot)).toBe(name);
});

test('slots are sorted as a list is, and equals keep their order', async () => {
  const random = randomFrom(5);
  for (const size of [0, 1, 2, 3, 1_000, 4_097]) {
    const times = Array.from({ length: size }, () => random.below(50));
    const slots = Uint32Array.from(times, (_, i) => i);
    const sorted = await sortSlots(slots, (a, b) => times[a]! - times[b]!, new Pace());
    expect([...sorted]).toEqual(times.map((_, i) => i).sort((a, b) => times[a]! - times[b]! || a - b));
  }
  const table = new KeyTable();
  const names = Array.from({ length: 500 }, (_, i) => key(`s${i}`));
  for (const name of names) table.add(name);
  expect(Array.from(await sortedSlots(table, new Pace()), (slot) => table.keyAt(slot))).toEqual([...names].sort());
});

test('lines of any length are read whole, and each is found again by its place', () => {
  const lengths = [0, 5, 300_000, 1, 262_143, 262_144, 262_145, 0, 900_000, 7];
  const texts = lengths.map((length, i) => String.fromCharCode(97 + i).repeat(length));
  for (const end of ['', '\n']) {
    const path = join(dir, 'lines');
    writeFileSync(path, texts.join('\n') + end);
    const file = openSync(path, 'r');
    const found = Array.from(linesOf(file), ({ buffer, start, end: to, at }) => ({
      text: buffer.toString('utf8', start, to),
      at,
    }));
    expect(found.map(({ text }) => text)).toEqual(texts);
    const reader = new RowReader(file);
    for (const { text, at } of [...found, ...[...found].reverse()]) expect(reader.text(at, text.length)).toBe(text);
    closeSync(file);
  }
});
