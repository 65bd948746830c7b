import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { parsedJson } from '../util/if-there.js';
import { statIfThere } from '../util/stat.js';
import { eachName } from './folder-names.js';
import { IndexColumns, NO_ROW } from './index-columns.js';
import { restOfRow, rowText } from './index-lines.js';
import type { LogOptions } from './index-log.js';
import { type IndexRow, isRow, readRow } from './index-row.js';
import { IndexWriter } from './index-writer.js';
import { KeyTable } from './key-table.js';
import { Interrupted, type Pace } from './pace.js';
import { entryPath, INDEX_LOG, INDEX_LOG_TAKEN, keyOfEntryName } from './paths.js';
import { RowReader } from './row-reader.js';
import { sortSlots } from './sort-slots.js';

/**
 * `index.json` holds a row for each entry, the least recently used first, as of some time; `index.log` what runs have
 * used and put since. Both are derived: what counts is the folder, and an entry without a row is read. In memory there
 * are only keys and places, whatever the rows hold.
 */
export class StoreIndex {
  readonly keys: KeyTable;
  /** Slots, the least recently used first. */
  readonly order: Uint32Array;
  /** How many entries had to be read because no row knew them. */
  read = 0;
  /** Found by `each`: entries that cannot be read as such. `verify` deals with them. */
  unreadable: string[] = [];
  readonly #options: LogOptions;
  readonly #columns: IndexColumns;
  readonly #readers: readonly (RowReader | undefined)[];

  constructor(options: LogOptions, keys: KeyTable, { columns, order }: { columns: IndexColumns; order: Uint32Array }) {
    this.#options = options;
    this.keys = keys;
    this.order = order;
    this.#columns = columns;
    this.#readers = columns.opened.map((file) => (file === undefined ? undefined : new RowReader(file)));
  }

  /** Undefined for an entry that cannot be read as such. */
  row(slot: number): IndexRow | undefined {
    return this.#writtenRow(slot) ?? this.#entryRow(slot);
  }

  /** Calls back for each entry that can be read, the least recently used first. */
  async each(pace: Pace, visit: (row: IndexRow, slot: number) => void): Promise<void> {
    this.unreadable = [];
    for (const slot of this.order) {
      const row = this.row(slot);
      if (row) visit(row, slot);
      else this.#noteUnreadable(slot);
      if (pace.tick()) await pace.rest();
    }
  }

  /** Only under the lock, after `takeLog`. Best effort: the next maintenance writes what this one could not. */
  async write(pace: Pace, isKept: (slot: number) => boolean = () => true): Promise<void> {
    let writer: IndexWriter | undefined;
    try {
      writer = new IndexWriter(this.#options);
      for (const slot of this.order) {
        if (isKept(slot)) this.#copyRow(slot, writer);
        if (pace.tick()) await pace.rest();
      }
      writer.commit();
      writer = undefined;
    } catch (error) {
      if (error instanceof Interrupted) throw error;
    } finally {
      writer?.abandon();
    }
  }

  /** A folder in the place of an entry is no entry. */
  #noteUnreadable(slot: number): void {
    const key = this.keys.keyAt(slot);
    if (statIfThere(entryPath(this.#options.dir, key))?.isFile()) this.unreadable.push(key);
  }

  #copyRow(slot: number, writer: IndexWriter): void {
    const { usedAt } = this.#columns;
    const key = this.keys.keyAt(slot);
    const rest = this.#rest(slot);
    const row = rest === undefined ? this.#entryRow(slot) : undefined;
    if (rest !== undefined) writer.add(key, usedAt[slot]!, rest);
    else if (row) writer.add(key, row.usedAt, restOfRow(row));
  }

  #rest(slot: number): string | undefined {
    const { file, offset, length } = this.#columns;
    return this.#readers[file[slot]!]?.text(offset[slot]!, length[slot]!);
  }

  #writtenRow(slot: number): IndexRow | undefined {
    const rest = this.#rest(slot);
    if (rest === undefined) return undefined;
    const row = parsedRow(rowText(this.#columns.usedAt[slot]!, rest));
    if (!row) this.#columns.file[slot] = NO_ROW;
    return row;
  }

  #entryRow(slot: number): IndexRow | undefined {
    const row = readRow(this.#options.dir, this.keys.keyAt(slot));
    if (!row) return undefined;
    this.read += 1;
    return this.#columns.turn[slot] === 0 ? row : { ...row, usedAt: this.#columns.usedAt[slot]! };
  }
}

/** An index may come from elsewhere: nothing in it is used before its shape is known. */
function parsedRow(text: string): IndexRow | undefined {
  const row = parsedJson(text);
  return isRow(row) ? row : undefined;
}

/** For listings: compares the names in the folder with the rows, and opens only entries without a row. */
export function withIndex<T>(options: LogOptions, pace: Pace, use: (index: StoreIndex) => T | Promise<T>): Promise<T> {
  return openIndex(options, { pace, checked: false }, use);
}

/** For maintenance, which removes files: a row counts only if it describes the file that is there. Under the lock. */
export function withTakenIndex<T>(
  options: LogOptions,
  pace: Pace,
  use: (index: StoreIndex) => T | Promise<T>,
): Promise<T> {
  takeLog(options.dir);
  return openIndex(options, { pace, checked: true }, use);
}

async function openIndex<T>(
  options: LogOptions,
  { pace, checked }: { readonly pace: Pace; readonly checked: boolean },
  use: (index: StoreIndex) => T | Promise<T>,
): Promise<T> {
  const { dir } = options;
  const keys = await keysIn(dir, pace);
  const columns = new IndexColumns(dir, keys);
  try {
    pace.begin('reading the index', keys.size);
    await columns.read(options, pace);
    pace.begin('comparing with the folder', keys.size);
    if (checked) await columns.compareFiles((slot) => entryPath(dir, keys.keyAt(slot)), pace);
    const order = await orderOf(dir, { keys, columns }, pace);
    const index = new StoreIndex(options, keys, { columns, order });
    pace.begin('going through the entries', keys.size);
    if (!checked || columns.file.every((file) => file !== NO_ROW)) return await use(index);
    // Entries without a row are read once, for the index, and not again in each pass.
    await index.write(pace);
  } finally {
    columns.close();
  }
  return openIndex(options, { pace, checked: false }, use);
}

/** The keys of all entries in the folder. */
export async function keysIn(dir: string, pace: Pace): Promise<KeyTable> {
  const keys = new KeyTable();
  pace.begin('reading the folder');
  for (const name of eachName(dir)) {
    const key = keyOfEntryName(name);
    if (key !== undefined) keys.add(key);
    if (pace.tick()) await pace.rest();
  }
  return keys;
}

/** Orders by last use; an entry without a row is ordered by the time of its file. */
async function orderOf(
  dir: string,
  { keys, columns }: { readonly keys: KeyTable; readonly columns: IndexColumns },
  pace: Pace,
): Promise<Uint32Array> {
  const { turn, usedAt, turns } = columns;
  const byTurn = new Uint32Array(turns + 1);
  const unknown = new Uint32Array(turn.reduce((count, at) => count + (at === 0 ? 1 : 0), 0));
  let next = 0;
  for (let slot = 0; slot < turn.length; slot++) {
    if (turn[slot]! > 0) byTurn[turn[slot]!] = slot + 1;
    else {
      unknown[next++] = slot;
      usedAt[slot] = statIfThere(entryPath(dir, keys.keyAt(slot)))?.mtimeMs ?? 0;
      if (pace.tick()) await pace.rest();
    }
  }
  const found = await sortSlots(unknown, (a, b) => usedAt[a]! - usedAt[b]!, pace);
  return merged(byTurn, found, { usedAt, size: turn.length });
}

function merged(
  byTurn: Uint32Array,
  found: Uint32Array,
  { usedAt, size }: { readonly usedAt: Float64Array; readonly size: number },
): Uint32Array {
  const order = new Uint32Array(size);
  let [at, next] = [0, 0];
  for (const place of byTurn) {
    if (place === 0) continue;
    const slot = place - 1;
    while (next < found.length && usedAt[found[next]!]! < usedAt[slot]!) order[at++] = found[next++]!;
    order[at++] = slot;
  }
  while (next < found.length) order[at++] = found[next++]!;
  return order;
}

/**
 * Sets the log aside, so that lines that are appended from now on are not removed with it. If a killed process has left
 * one aside, that one is folded first, and the next maintenance takes the newer one.
 */
export function takeLog(dir: string): void {
  if (existsSync(join(dir, INDEX_LOG_TAKEN))) return;
  try {
    renameSync(join(dir, INDEX_LOG), join(dir, INDEX_LOG_TAKEN));
  } catch {
    // Nothing was used since the index was written.
  }
}
