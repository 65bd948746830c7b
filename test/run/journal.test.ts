import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JournalLine, ResultLine } from '../../src/run/journal/lines.js';
import { readLineAt, readLines, resultPlaces } from '../../src/run/journal/reader.js';
import { searchResult } from '../../src/run/journal/search-results.js';
import { JournalWriter } from '../../src/run/journal/writer.js';
import { textOf as saidBy } from '../support/output-text.js';

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

it('a line of sixty megabytes is read in the time that its length needs', () => {
  const journal = new JournalWriter(path);
  journal.write(warning('x'.repeat(60_000_000)));
  journal.write(warning('after'));
  journal.close();
  const startedAt = performance.now();
  expect([...readLines(path)].at(-1)?.line).toEqual(warning('after'));
  expect(performance.now() - startedAt).toBeLessThan(7_000);
});

it('a line of megabytes is written in pieces that never cut through a character', () => {
  const journal = new JournalWriter(path);
  const texts = [0, 1, 2, 3].map((shift) => `${'x'.repeat(shift)}${'😀'.repeat(700_000)}`);
  const places = texts.map((text) => journal.write(warning(text)));
  journal.close();
  expect(places.map((place) => readLineAt(path, place))).toEqual(texts.map(warning));
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
    expect(searchResult({ bytes, path }, { phase, unit })).toMatchObject({ phase, output: { text: 'second' } });
  }
  expect(searchResult({ bytes, path }, { phase: 'each', unit: 'item 2' })).toBeUndefined();
  expect(searchResult({ bytes, path }, { phase: 'rows/1/each', unit: 'item 1' })).toBeUndefined();
  const places = resultPlaces(path);
  const textOf = (name: string) => saidBy((readLineAt(path, places.get(name)!) as ResultLine).output);
  for (const [phase, unit] of names) expect(textOf(unit === undefined ? phase : `${phase} ${unit}`)).toBe('second');
  expect(textOf('older')).toBe('found');
  expect([...places.keys()]).toHaveLength(names.length + 2);
});
