import { readFileSync, type Stats } from 'node:fs';
import { statIfThere } from '../util/stat.js';
import { blobsOf } from './entry-blobs.js';
import { entryPath, isKey } from './paths.js';
import type { Entry } from './store.js';

/** What maintenance and listings want to know of an entry without reading it. */
export interface IndexRow {
  readonly createdAt: number;
  readonly usedAt: number;
  readonly bytes: number;
  readonly flow: string;
  readonly phaseId: string;
  readonly runId: string;
  /** Shows whether the row describes the file that is there now. */
  readonly inode: number;
  /** The ttl it was put with. */
  readonly ttlMs?: number;
  /** Digests of the kept files, and of a large output. */
  readonly blobs: readonly string[];
}

export function rowOf(entry: Entry, { ino, size, usedAt }: { ino: number; size: number; usedAt: number }): IndexRow {
  return {
    createdAt: entry.createdAt,
    usedAt,
    bytes: size,
    flow: entry.flow,
    phaseId: entry.phase,
    runId: entry.runId,
    inode: ino,
    ttlMs: entry.ttlMs,
    blobs: blobsOf(entry),
  };
}

/** Whether this is an entry of path sets, which is no result and belongs to no run. */
export function isOfPaths({ runId }: Pick<IndexRow, 'runId'>): boolean {
  return runId === '';
}

/** An index may come from elsewhere: nothing in it is used before its shape is known. */
export function isRow(value: unknown): value is IndexRow {
  const row = value as Partial<IndexRow> | null;
  return (
    typeof row === 'object' &&
    row !== null &&
    [row.createdAt, row.usedAt, row.bytes, row.inode, row.ttlMs ?? 0].every(Number.isFinite) &&
    row.bytes! >= 0 &&
    [row.flow, row.phaseId, row.runId].every((field) => typeof field === 'string') &&
    Array.isArray(row.blobs) &&
    row.blobs.every((digest) => typeof digest === 'string' && isKey(digest))
  );
}

/** Whether the row describes this file. */
export function isAbout(row: IndexRow, stat: Stats): boolean {
  return row.inode === stat.ino && row.bytes === stat.size;
}

/**
 * The row of an entry that no index knows. Undefined when it cannot be read. Not verified, to keep listings quick: no
 * result is served from a row.
 */
export function readRow(dir: string, key: string): IndexRow | undefined {
  try {
    const stat = statIfThere(entryPath(dir, key));
    if (!stat?.isFile()) return undefined;
    const entry = JSON.parse(readFileSync(entryPath(dir, key), 'utf8')) as Entry;
    const row = rowOf(entry, { ino: stat.ino, size: stat.size, usedAt: stat.mtimeMs });
    return isRow(row) ? row : undefined;
  } catch {
    // Damaged, or gone meanwhile.
    return undefined;
  }
}
