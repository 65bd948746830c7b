import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere } from '../util/atomic-write.js';
import { type BlobInfo, listBlobs, removeOrphans } from './blob-list.js';
import { namedBy } from './collect-garbage.js';
import { fileClock } from './file-clock.js';
import { type IndexRow, loadIndex, takeIndex, writeIndex } from './index-file.js';
import { withMaintenanceLock } from './maintenance-lock.js';
import type { StoreOptions } from './options.js';
import { DAMAGED, entryPath } from './paths.js';

export interface ClearRequest {
  readonly flow?: string;
  readonly phase?: string;
  /** Since it was made. */
  readonly olderThanMs?: number;
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

export interface Cleared {
  readonly entries: number;
  /** Entries, and the kept files that only they named. */
  readonly bytes: number;
  readonly keys: readonly string[];
}

/** Removes the entries that fit every condition; with none given, nothing. A phase that computes now still stores. */
export function clearEntries(
  options: Pick<StoreOptions, 'dir' | 'project' | 'signingKey'>,
  request: ClearRequest,
): Promise<Cleared | { readonly busy: string }> {
  const { dir, project } = options;
  if (!existsSync(dir)) return Promise.resolve({ entries: 0, bytes: 0, keys: [] });
  return withMaintenanceLock(dir, () => {
    const now = project.clock.now();
    const index = request.dryRun ? loadIndex(options) : takeIndex(options);
    const rows = new Map(index.rows);
    const blobs = listBlobs(dir);
    const chosen = [...rows].filter(([, row]) => fits(row, request, now));
    for (const [key] of chosen) rows.delete(key);
    const left = namedBy(rows.values());
    const dropped = namedBy(chosen.map(([, row]) => row));
    const cleared: Cleared = {
      entries: chosen.length + (request.all ? index.unreadable.length : 0),
      bytes: sum(chosen.map(([, row]) => row.bytes)) + bytesOf(blobs, (digest) => dropped(digest) && !left(digest)),
      keys: chosen.map(([key]) => key),
    };
    if (request.dryRun) return cleared;
    for (const [key] of chosen) removeIfThere(entryPath(dir, key));
    if (request.all) {
      for (const key of index.unreadable) removeIfThere(entryPath(dir, key));
      rmSync(join(dir, DAMAGED), { recursive: true, force: true });
    }
    removeOrphans(blobs, { left, dropped }, fileClock(dir) ?? 0);
    writeIndex(options, rows);
    return cleared;
  });
}

function fits(row: IndexRow, request: ClearRequest, now: number): boolean {
  const { flow, phase, olderThanMs, all } = request;
  if (!all && flow === undefined && phase === undefined && olderThanMs === undefined) return false;
  return (
    (flow === undefined || row.flow === flow) &&
    (phase === undefined || row.phaseId === phase) &&
    (olderThanMs === undefined || now - row.createdAt > olderThanMs)
  );
}

function bytesOf(blobs: ReadonlyMap<string, BlobInfo>, counts: (digest: string) => boolean): number {
  return sum([...blobs].map(([digest, { bytes }]) => (counts(digest) ? bytes : 0)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
