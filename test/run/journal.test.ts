import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JournalLine, ResultLine } from '../../src/run/journal/lines.js';
import { readLineAt, readLines, resultPlaces } from '../../src/run/journal/reader.js';
import { reusedFigures, reusedLine } from '../../src/run/journal/reused-line.js';
import { searchResult } from '../../src/run/journal/search-results.js';
import { JournalWriter, type Urgency } from '../../src/run/journal/writer.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'taskflow-journal-'));
  path = join(folder, 'journal.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const warning = (message: string): JournalLine => ({ type: 'warning', at: 1, message });
const result = (phase: string, unit: string | undefined, text: string): ResultLine => ({
  type: unit === undefined ? 'phase' : 'unit',
  at: 1,
  phase,
  kind: 'map',
  unit,
  status: 'done',
  reason: '',
  hit: null,
  output: { text, json: null },
  attempts: 1,
  durationMs: 0,
  usage: { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 },
});

it('lines of every size and script are found at their places, held back or not, in the order of writing', () => {
  const journal = new JournalWriter(path);
  const sizes = [0, 1, 700, 21_000, 22_000, 30_000, 65_535, 65_536, 300_000];
  const texts = [...sizes, ...sizes].flatMap((size) => ['x', 'é', '語', '😀', '\ud800'].map((one) => one.repeat(size)));
  const places = texts.map((text, index) => journal.write(warning(text), index % 3 === 0 ? 'now' : 'held'));
  journal.close();
  expect(places.map((place) => readLineAt(path, place))).toEqual(texts.map(warning));
  expect([...readLines(path)].map(({ line }) => line)).toEqual(texts.map(warning));
  expect([...readLines(path)].map(({ offset, length }) => ({ offset, length }))).toEqual(places);
});

it('a line that must not be lost takes all that were held back before it along', () => {
  const journal = new JournalWriter(path);
  journal.write(warning('held'), 'held');
  expect(readFileSync(path, 'utf8')).toBe('');
  journal.write(warning('matters'));
  expect([...readLines(path)].map(({ line }) => line)).toEqual([warning('held'), warning('matters')]);
  journal.close();
});

it('a line that is wanted soon is written when the turn is over, if nothing has taken it along by then', async () => {
  const journal = new JournalWriter(path);
  journal.write(warning('held'), 'held');
  journal.write(warning('soon'), 'soon');
  expect(readFileSync(path, 'utf8')).toBe('');
  await new Promise((resolve) => setImmediate(resolve));
  expect([...readLines(path)].map(({ line }) => line)).toEqual([warning('held'), warning('soon')]);
  journal.close();
});

it('the latest result of each phase and unit is found by its name, however it is written', () => {
  const journal = new JournalWriter(path);
  const names: [string, string | undefined][] = [
    ['each', undefined],
    ['each', 'item 1'],
    ['each', 'a "quoted" \\ name\n'],
    ['rows/1/each', '語 😀'],
    ['long', 'x'.repeat(500)],
  ];
  for (const text of ['first', 'second']) {
    journal.write(warning('in between'));
    for (const [phase, unit] of names) journal.write(result(phase, unit, text));
  }
  // What stands inside of an output is no result.
  const fake = result('each', 'item 1', 'fake');
  journal.write({ ...result('other', undefined, JSON.stringify(fake)), output: { text: '', json: fake as never } });
  journal.close();
  // One that was cut short never happened, and older lines may have their fields in another order.
  appendFileSync(path, `${JSON.stringify(result('each', 'item 1', 'torn')).slice(0, -9)}\n`);
  const { phase, kind, ...rest } = result('older', undefined, 'found');
  appendFileSync(path, `${JSON.stringify({ ...rest, kind, phase })}\n`);

  const bytes = readFileSync(path);
  for (const [phase, unit] of names) {
    expect(searchResult(bytes, phase, unit)).toMatchObject({ phase, output: { text: 'second' } });
  }
  expect(searchResult(bytes, 'each', 'item 2')).toBeUndefined();
  expect(searchResult(bytes, 'rows/1/each', 'item 1')).toBeUndefined();
  const places = resultPlaces(path);
  const textOf = (name: string) => (readLineAt(path, places.get(name)!) as ResultLine).output.text;
  for (const [phase, unit] of names) expect(textOf(unit === undefined ? phase : `${phase} ${unit}`)).toBe('second');
  expect(textOf('older')).toBe('found');
  expect([...places.keys()]).toHaveLength(names.length + 2);
});

it('the short line of a reused result is read as if it had said everything', () => {
  const used = { inputTokens: 5, cachedInputTokens: 3, outputTokens: 2 };
  const free = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
  const cases: Partial<ResultLine>[] = [
    { cost: { usage: { ...free, usd: 0 }, durationMs: 28.9 } },
    { cost: { usage: { ...used, usd: 0.25 }, durationMs: 1_000 }, model: 'big', facts: { notes: [1] } },
    // Money that nobody knows of is not none.
    { cost: { usage: free, durationMs: 3 }, unit: 'a "quoted" \\ name' },
    { cost: { usage: { ...used, usd: 0 }, durationMs: 0 }, runKey: 'b'.repeat(64), hit: 'run' },
  ];
  const journal = new JournalWriter(path);
  const key = 'a'.repeat(64);
  const whole = cases.map((more): ResultLine => {
    const cost = more.cost!;
    const { inputTokens, cachedInputTokens, outputTokens, usd = null } = cost.usage;
    return {
      ...result('each', more.unit, 'said'),
      at: 7,
      reason: 'age 2ms',
      key,
      runKey: key,
      hit: 'cross-run',
      madeAt: 5,
      attempts: 0,
      usage: { ...free, usd: 0 },
      saved: { usd, tokens: inputTokens + cachedInputTokens + outputTokens, ms: Math.round(cost.durationMs) },
      ...more,
    };
  });
  const textOf = (line: ResultLine, taken?: { at: number; reason: string }): string => {
    const { phase, kind, unit, hit, madeAt, runKey, cost, model, facts } = line;
    const figures = reusedFigures({ cost: cost!, model, facts });
    const output = JSON.stringify(line.output);
    return reusedLine({ taken, phase, kind, unit, key, runKey: runKey!, hit: hit!, madeAt: madeAt!, output, figures });
  };
  const places = whole.map((line) => journal.writeText(textOf(line, line)));
  // Those that are the same each time say neither when nor why.
  const bytes = Buffer.from(whole.map((line) => `${textOf(line)}\n`).join(''));
  const ready = journal.writeTaken(7, bytes, 0, bytes.length);
  journal.close();
  const read = [...readLines(path)];
  expect(places.map((place) => readLineAt(path, place))).toEqual(whole);
  expect(read.map(({ line }) => line)).toEqual([...whole, { type: 'taken', at: 7 }, ...whole]);
  for (const place of places) expect(place.length).toBeLessThan(450);
  // Alone, such a line has the time at which its result was made.
  const { offset, length } = read.at(whole.length + 1)!;
  expect(offset).toBe(ready.offset);
  expect(readLineAt(path, { offset, length })).toEqual({ ...whole[0], at: 5, reason: 'age 0ms' });
  expect(resultPlaces(path).get('each')).toMatchObject({ offset: read.at(-1)!.offset });
  expect(searchResult(readFileSync(path), 'each', whole[2]!.unit)).toMatchObject({ key, output: { text: 'said' } });
});

it('lines that stand ready elsewhere are found at their places, among those that are held and those that are not', () => {
  const journal = new JournalWriter(path);
  const sizes = [3, 700, 40_000, 65_000, 80_000, 200_000];
  const texts = sizes.flatMap((size) => ['x', '語'].map((one) => one.repeat(size)));
  const lines = texts.map((text) => `${JSON.stringify(warning(text))}\n`);
  const source = Buffer.from(lines.join(''));
  const ends = lines.map((_, index) => Buffer.byteLength(lines.slice(0, index + 1).join('')));
  const expected: JournalLine[] = [];
  const places: { offset: number; length: number }[] = [];
  for (const [time, others] of [[1], [2, 'now'], [2, 'held'], [3, 'soon']] as [number, Urgency?][]) {
    const isNew = expected.every((line) => line.type !== 'taken' || line.at !== time);
    if (isNew) expected.push({ type: 'taken', at: time });
    for (const [index, end] of ends.entries()) {
      places.push(journal.writeTaken(time, source, ends[index - 1] ?? 0, end));
      expected.push(warning(texts[index]!));
      if (others) expected.push(warning(others));
      if (others) journal.write(warning(others), others);
    }
  }
  journal.close();
  expect([...readLines(path)].map(({ line }) => line)).toEqual(expected);
  expect(places.map((place) => readLineAt(path, place))).toEqual(
    places.map((_, i) => warning(texts[i % texts.length]!)),
  );
});
