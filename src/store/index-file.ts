import { readdirSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { entryPath, INDEX, keyOfEntryName } from './paths.js';
import type { Entry } from './store.js';

/** What maintenance and listings want to know of an entry without reading it. */
export interface IndexRow {
  readonly createdAt: number;
  /** The entry's mtime. */
  readonly usedAt: number;
  readonly bytes: number;
  readonly flow: string;
  readonly phaseId: string;
  readonly runId: string;
  /** Tells whether the row is about the file that is there now. */
  readonly inode: number;
  /** Digests of the kept files. */
  readonly blobs: readonly string[];
}

export interface StoreIndex {
  readonly rows: ReadonlyMap<string, IndexRow>;
  /** Entries that cannot be read as such; `verify` deals with them. */
  readonly unreadable: readonly string[];
}

/**
 * The index is derived: what counts is the folder. Rows of files that are still the same are taken from `index.json`,
 * the others are read; a lost or garbled index costs time and nothing else. Only maintenance and listings come here, a
 * run never does.
 */
export function loadIndex(dir: string): StoreIndex {
  const { rows, unreadable, changed } = lookOver(dir);
  if (changed) writeIndex(dir, rows);
  return { rows, unreadable };
}

/** The same, for someone who writes the index anyway. */
export function lookOver(dir: string): StoreIndex & { readonly changed: boolean } {
  const known = readIndex(dir);
  const rows = new Map<string, IndexRow>();
  const unreadable: string[] = [];
  let changed = false;
  for (const name of listFolder(dir)) {
    const key = keyOfEntryName(name);
    if (key === undefined) continue;
    const stat = statIfThere(join(dir, name));
    if (!stat?.isFile()) continue;
    const row = known.get(key);
    const same = row !== undefined && row.inode === stat.ino && row.bytes === stat.size;
    const fresh = same ? { ...row, usedAt: stat.mtimeMs } : readRow(dir, key, stat);
    if (fresh) rows.set(key, fresh);
    else unreadable.push(key);
    changed ||= !same;
  }
  return { rows, unreadable, changed: changed || rows.size !== known.size };
}

export function writeIndex(dir: string, rows: ReadonlyMap<string, IndexRow>): void {
  // Best effort: the next one who needs it makes it again.
  const lines = Array.from(rows, ([key, row]) => `"${key}":${JSON.stringify(row)}`);
  writeFileAtomic(join(dir, INDEX), `{${lines.join(',')}}`);
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

function readIndex(dir: string): Map<string, IndexRow> {
  try {
    const value = JSON.parse(readFileSync(join(dir, INDEX), 'utf8')) as Record<string, unknown>;
    return new Map(Object.entries(value).filter((pair): pair is [string, IndexRow] => isRow(pair[1])));
  } catch {
    // Missing or garbled: made again from the entries.
    return new Map();
  }
}

function isRow(value: unknown): value is IndexRow {
  const row = value as Partial<IndexRow> | null;
  return (
    typeof row === 'object' &&
    row !== null &&
    [row.createdAt, row.usedAt, row.bytes, row.inode].every((field) => typeof field === 'number') &&
    [row.flow, row.phaseId, row.runId].every((field) => typeof field === 'string') &&
    Array.isArray(row.blobs)
  );
}

/** Not verified: a listing need not read every byte twice, and nothing is served from here. */
function readRow(dir: string, key: string, stat: Stats): IndexRow | undefined {
  try {
    const entry = JSON.parse(readFileSync(entryPath(dir, key), 'utf8')) as Entry;
    const row: IndexRow = {
      createdAt: entry.createdAt,
      usedAt: stat.mtimeMs,
      bytes: stat.size,
      flow: entry.flow,
      phaseId: entry.phase,
      runId: entry.runId,
      inode: stat.ino,
      blobs: entry.files.map(({ digest }) => digest),
    };
    return isRow(row) ? row : undefined;
  } catch {
    // Damaged, or gone meanwhile.
    return undefined;
  }
}
