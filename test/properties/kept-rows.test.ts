import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readLines } from '../../src/run/journal/reader.js';
import { JournalWriter } from '../../src/run/journal/writer.js';
import { type KeptRow, newRow, type RowFacts, RowsFile, RowsWriter } from '../../src/run/repeat/kept-rows.js';
import { RecordsWriter, type SheetRecord, SheetRecords } from '../../src/run/repeat/sheet-records.js';

const folder = mkdtempSync(join(tmpdir(), 'taskflow-rows-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'rows');

const time = fc.double({ min: 1e12, max: 2e12, noNaN: true });
const count = fc.nat({ max: 2 ** 40 });
const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', 'é', '語', '😀', '\ud800', ',', '}') });
const digest = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const result: fc.Arbitrary<RowFacts> = fc.record({
  phase: text,
  kind: fc.constantFrom('script', 'agent', 'map'),
  unit: maybe(text),
  key: digest,
  madeAt: fc.nat({ max: 2 ** 45 }),
  output: fc.record({ text, json: fc.jsonValue() as fc.Arbitrary<never> }),
  cost: fc.record({
    usage: fc.record({ inputTokens: fc.nat(9), cachedInputTokens: fc.nat(1), outputTokens: fc.nat(1), usd: fc.nat(2) }),
    durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  }),
  model: maybe(text),
  facts: maybe(fc.constant({ notes: [1] })),
});
const row = fc
  .tuple(result, fc.record({ usedAt: time, ino: count, size: count, ctimeMs: time }))
  .map(([facts, entry]) => ({ facts, row: newRow(facts, entry) }));

function writerOf(rows: readonly KeptRow[]): RowsWriter {
  const writer = new RowsWriter();
  for (const one of rows) writer.add(one);
  return writer;
}

function readBack(writer: RecordsWriter): SheetRecords {
  writeFileSync(file, Buffer.concat(writer.encode([])));
  return new SheetRecords(RowsFile.read(file)!.rows());
}

function recordOf(records: SheetRecords, record: number): SheetRecord {
  return {
    id: records.id(record),
    kind: records.kind(record),
    row: records.rows.row(record),
    ttlMs: records.ttlMs(record),
    inputs: records.inputs(record),
    world: records.world(record),
  };
}

const textOf = ({ source, start, end }: KeptRow['line']) => source.toString('utf8', start, end);

test('rows come back as they were kept, and the journal gets of each the line that says it', () => {
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 8 }), fc.array(fc.nat(7)), text, (given, picked, extra) => {
      const head = JSON.stringify(extra);
      const more = { columns: { more: given.map(({ facts }) => facts.phase) } };
      const kept = given.map((one) => one.row);
      writeFileSync(file, Buffer.concat(writerOf(kept).encode([head], more)));
      const read = RowsFile.read(file)!;
      expect(read.text()).toBe(head);
      const rows = read.rows<{ more: string[] }>();
      expect(rows.columns.more).toEqual(given.map(({ facts }) => facts.phase));
      expect(rows.outputs).toEqual(given.map(({ facts }) => JSON.parse(JSON.stringify(facts.output))));
      const path = join(folder, 'journal.jsonl');
      rmSync(path, { force: true });
      const journal = new JournalWriter(path);
      // All of them at once, then some in any order.
      rows.write(journal, 5e12);
      const some = picked.filter((index) => index < given.length);
      for (const index of some) rows.write(journal, 6e12, index, index + 1);
      journal.close();
      const lines = [...readLines(path)].flatMap(({ line }) => (line.type === 'taken' ? [] : line));
      const expected = [...given.keys(), ...some];
      expect(lines).toHaveLength(expected.length);
      for (const [nth, index] of expected.entries()) {
        const { facts, row: kept } = given[index]!;
        const { usd, inputTokens, cachedInputTokens, outputTokens } = facts.cost.usage;
        expect(rows.output(index)).toEqual(JSON.parse(JSON.stringify(facts.output)));
        expect({ ...rows.row(index), line: 0 }).toEqual({ ...kept, line: 0 });
        expect(lines[nth]).toMatchObject({
          at: nth < given.length ? 5e12 : 6e12,
          phase: facts.phase,
          key: facts.key,
          runKey: facts.key,
          hit: 'cross-run',
          madeAt: facts.madeAt,
          cost: facts.cost,
          saved: { usd, tokens: inputTokens + cachedInputTokens + outputTokens },
        });
        expect((lines[nth] as { unit?: string }).unit).toBe(facts.unit);
        expect((lines[nth] as { model?: string }).model).toBe(facts.model);
        expect((lines[nth] as { facts?: unknown }).facts).toEqual(facts.facts);
      }
    }),
    { numRuns: 300 },
  );
});

test('records of a sheet come back with their inputs, whichever of these have figures or are not there', () => {
  const seen = fc.record(
    {
      path: text,
      digest: fc.option(digest),
      figures: fc.tuple(count, time, time, fc.integer({ min: 1, max: 2 ** 40 })),
    },
    { requiredKeys: ['path', 'digest'] },
  );
  const record: fc.Arbitrary<SheetRecord> = fc.record({
    id: text,
    kind: fc.constantFrom('script', 'agent'),
    row: row.map((one) => one.row),
    ttlMs: maybe(fc.nat()),
    inputs: fc.array(seen, { maxLength: 3 }),
    world: maybe(fc.array(fc.tuple(text, text), { maxLength: 2 })),
  });
  const plain = ({ row: { line: _line, ...rest }, ...more }: SheetRecord) => ({ ...more, row: rest });
  fc.assert(
    fc.property(fc.array(record, { maxLength: 6 }), fc.array(fc.nat(5)), (given, picked) => {
      const writer = new RecordsWriter();
      for (const one of given) writer.add(one);
      const records = readBack(writer);
      const read = Array.from({ length: records.count }, (_, index) => recordOf(records, index));
      expect(read.map(plain)).toEqual(given.map(plain));
      // Some of them in any order, among new ones, are the same in the next file, lines and all.
      const next = new RecordsWriter();
      const mixed = picked.flatMap((index) => (given[index] ? [index] : []));
      for (const index of mixed) {
        next.copy(records, index);
        next.add(given[index]!);
      }
      const again = readBack(next);
      expect(again.count).toBe(2 * mixed.length);
      for (const [nth, index] of mixed.entries()) {
        for (const place of [2 * nth, 2 * nth + 1]) {
          expect(plain(recordOf(again, place))).toEqual(plain(given[index]!));
          expect(textOf(again.rows.line(place))).toBe(textOf(given[index]!.row.line));
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('a file of which anything is missing, more or other is none', () => {
  const rows = fc.sample(row, { numRuns: 3, seed: 1 }).map((one) => one.row);
  writeFileSync(file, Buffer.concat(writerOf(rows).encode(['head'])));
  const whole = readFileSync(file);
  const open = (bytes: Buffer) => {
    writeFileSync(file, bytes);
    const read = RowsFile.read(file);
    if (!read) return undefined;
    read.text();
    return read.rows();
  };
  expect(open(whole)?.count).toBe(3);
  for (let cut = 0; cut < whole.length; cut += 7) expect(open(whole.subarray(0, cut))).toBeUndefined();
  for (let at = 0; at < whole.length; at += 11) {
    const other = Buffer.from(whole);
    other[at]! ^= 1;
    expect(open(other)).toBeUndefined();
  }
  // Whole, and yet its lines are not those of its columns.
  const half = whole.subarray(0, whole.length / 2);
  for (const wrong of [half.subarray(0, -4), Buffer.concat([half, Buffer.from('{}\n')])]) {
    expect(() => open(Buffer.concat([wrong, wrong]))).toThrow();
  }
});
