import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { dropTakenLog, type KnownRows, type LogOptions, replayLog } from './index-log.js';
import { type IndexRow, isAbout, isRow, readRow } from './index-row.js';
import { entryPath, INDEX, INDEX_LOG, INDEX_LOG_TAKEN, isKey, keyOfEntryName } from './paths.js';
import { hasMac, withMac } from './signed-text.js';

export type { IndexRow } from './index-row.js';

/**
 * `index.json` holds a row for each entry, the least recently used first, as of some run's end; `index.log` what later
 * runs have used and put. Both are derived: what counts is the folder, and an entry without a row is read.
 */
export interface StoreIndex {
  /** The least recently used first. */
  readonly rows: ReadonlyMap<string, IndexRow>;
  /** Entries that cannot be read as such; `verify` deals with them. */
  readonly unreadable: readonly string[];
  /** How many entries had to be read because no row knew them. */
  readonly read: number;
}

/** For listings: the names in the folder are compared with the rows; no entry is touched unless it has no row. */
export function loadIndex(options: LogOptions): StoreIndex {
  return lookOver(options, () => true);
}

/** For maintenance, which removes files: a row counts only if it is about the file that is there. Under the lock. */
export function takeIndex(options: LogOptions): StoreIndex {
  takeLog(options.dir);
  return lookOver(options, (key, row) => {
    const stat = statIfThere(entryPath(options.dir, key));
    return stat !== undefined && isAbout(row, stat);
  });
}

function lookOver(options: LogOptions, isRight: (key: string, row: IndexRow) => boolean): StoreIndex {
  const { dir } = options;
  const names = listFolder(dir);
  const unknown = new Set<string>();
  for (const name of names) {
    const key = keyOfEntryName(name);
    if (key !== undefined) unknown.add(key);
  }
  const ordered: [string, IndexRow][] = [];
  const unreadable: string[] = [];
  let read = 0;
  for (const [key, row] of knownRows(options)) {
    if (!unknown.has(key)) continue;
    if (typeof row === 'object') {
      if (!isRight(key, row)) continue;
      ordered.push([key, row]);
    } else {
      const fresh = readRow(dir, key);
      if (fresh === undefined) continue;
      read += 1;
      ordered.push([key, { ...fresh, usedAt: row }]);
    }
    unknown.delete(key);
  }
  const found: [string, IndexRow][] = [];
  for (const key of unknown) {
    const row = readRow(dir, key);
    if (row) found.push([key, row]);
    // A folder in the place of an entry is no entry.
    else if (statIfThere(entryPath(dir, key))?.isFile()) unreadable.push(key);
  }
  return { rows: merged(ordered, found), unreadable, read: read + found.length };
}

/** Puts rows that were just read where their time says among those whose order is known. */
function merged(ordered: readonly [string, IndexRow][], found: [string, IndexRow][]): Map<string, IndexRow> {
  if (found.length === 0) return new Map(ordered);
  found.sort(([, a], [, b]) => a.usedAt - b.usedAt);
  const rows = new Map<string, IndexRow>();
  let next = 0;
  for (const [key, row] of ordered) {
    for (; next < found.length && found[next]![1].usedAt < row.usedAt; next++) rows.set(...found[next]!);
    rows.set(key, row);
  }
  for (; next < found.length; next++) rows.set(...found[next]!);
  return rows;
}

function knownRows(options: LogOptions): KnownRows {
  const known = readIndex(options);
  replayLog(options, known);
  return known;
}

function readIndex({ dir, signingKey }: LogOptions): KnownRows {
  const known: KnownRows = new Map();
  try {
    const text = readFileSync(join(dir, INDEX), 'utf8');
    if (!hasMac(INDEX, text, signingKey)) return known;
    const value = JSON.parse(text) as Record<string, unknown>;
    for (const key of Object.keys(value)) {
      const row = value[key];
      if (isKey(key) && isRow(row)) known.set(key, row);
    }
  } catch {
    // Missing or garbled: made again from the entries.
  }
  return known;
}

/**
 * Sets the log aside, so that what is appended from now on is not removed with it. One that a killed process has left
 * aside is folded first; the next maintenance takes the newer one.
 */
function takeLog(dir: string): void {
  if (existsSync(join(dir, INDEX_LOG_TAKEN))) return;
  try {
    renameSync(join(dir, INDEX_LOG), join(dir, INDEX_LOG_TAKEN));
  } catch {
    // Nothing was used since the index was written.
  }
}

/** Under the lock, after `takeIndex`. Best effort: the next reader makes it again. */
export function writeIndex({ dir, signingKey }: LogOptions, rows: ReadonlyMap<string, IndexRow>): void {
  const lines = Array.from(rows, ([key, row]) => `"${key}":${JSON.stringify(row)}`);
  const text = lines.length === 0 && signingKey !== undefined ? '{"entries":0}' : `{${lines.join(',\n')}}`;
  const result = writeFileAtomic(join(dir, INDEX), withMac(INDEX, text, signingKey));
  if ('written' in result) dropTakenLog(dir);
}

/** Empty for a folder that is not there. */
export function listFolder(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    // Nothing was kept yet.
    return [];
  }
}
