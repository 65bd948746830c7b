import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { type BlobInfo, listBlobs, removeOrphans } from './blob-list.js';
import { chooseVictims } from './choose-victims.js';
import { clockSince, isAgeBelievable, readMarker, writeMarker } from './collect-marker.js';
import { fileClock } from './file-clock.js';
import { type IndexRow, listFolder, takeIndex, writeIndex } from './index-file.js';
import { isAbout } from './index-row.js';
import { compactLedger } from './ledger.js';
import { removeLeftovers } from './leftovers.js';
import { withMaintenanceLock } from './maintenance-lock.js';
import type { StoreLimits, StoreOptions } from './options.js';
import { DAMAGED, entryPath } from './paths.js';

export interface Collected {
  readonly removedEntries: number;
  readonly removedBlobs: number;
  /** Claims and temporary files of processes that died. */
  readonly leftovers: number;
  readonly freedBytes: number;
  /** What is left. */
  readonly entries: number;
  readonly bytes: number;
}

const NOTHING: Collected = {
  removedEntries: 0,
  removedBlobs: 0,
  leftovers: 0,
  freedBytes: 0,
  entries: 0,
  bytes: 0,
};

const DAMAGED_KEPT_MS = 30 * 24 * 3_600_000;

export interface CollectRequest {
  /** Others than those of the store. */
  readonly limits?: StoreLimits;
  /** How long another maintenance is waited for. */
  readonly patienceMs?: number;
}

/**
 * Brings the store within its bounds, least recently used first, and clears up after processes that died. Safe beside
 * runs: what was replaced since it was looked at stays, and what is not ours is never touched.
 */
export function collectGarbage(
  options: Pick<StoreOptions, 'dir' | 'project' | 'limits' | 'signingKey'>,
  request: CollectRequest = {},
): Promise<Collected | { readonly busy: string }> {
  const { dir, project } = options;
  const { limits = options.limits } = request;
  if (!existsSync(dir)) return Promise.resolve(NOTHING);
  const collect = (): Collected => {
    const now = project.clock.now();
    // By this clock, files are old; nothing is removed for its age where it cannot be read.
    const fileNow = fileClock(dir) ?? 0;
    const marker = readMarker(dir);
    const leftovers = removeLeftovers(dir, fileNow);
    const rows = new Map(takeIndex(options).rows);
    const blobs = listBlobs(dir);
    const dropped: IndexRow[] = [];
    for (const key of chooseVictims(rows, blobs, { limits, now, byAge: isAgeBelievable(marker, now) })) {
      const row = rows.get(key)!;
      if (!removeUnchanged(dir, key, row)) continue;
      rows.delete(key);
      dropped.push(row);
    }
    const orphans = removeOrphans(blobs, { left: namedBy(rows.values()), dropped: namedBy(dropped) }, fileNow);
    removeOldDamage(dir, fileNow);
    compactLedger(project);
    writeIndex(options, rows);
    const left = totals(rows, listBlobs(dir));
    writeMarker(dir, { at: now, ...left, puts: 0, added: 0, since: clockSince(marker, now) });
    return {
      removedEntries: dropped.length,
      removedBlobs: orphans.removed,
      leftovers,
      freedBytes: dropped.reduce((sum, row) => sum + row.bytes, orphans.bytes),
      ...left,
    };
  };
  return withMaintenanceLock(dir, collect, request.patienceMs);
}

/** Unless it was replaced since. */
function removeUnchanged(dir: string, key: string, row: IndexRow): boolean {
  const stat = statIfThere(entryPath(dir, key));
  return stat !== undefined && isAbout(row, stat) && removeIfThere(entryPath(dir, key));
}

export function namedBy(rows: Iterable<IndexRow>): (digest: string) => boolean {
  const named = new Set<string>();
  for (const row of rows) for (const digest of row.blobs) named.add(digest);
  return (digest) => named.has(digest);
}

export function totals(
  rows: ReadonlyMap<string, IndexRow>,
  blobs: ReadonlyMap<string, BlobInfo>,
): { entries: number; bytes: number } {
  let bytes = 0;
  for (const row of rows.values()) bytes += row.bytes;
  for (const blob of blobs.values()) bytes += blob.bytes;
  return { entries: rows.size, bytes };
}

function removeOldDamage(dir: string, now: number): void {
  for (const name of listFolder(join(dir, DAMAGED))) {
    const path = join(dir, DAMAGED, name);
    const stat = statIfThere(path);
    if (stat && now - stat.mtimeMs > DAMAGED_KEPT_MS) removeIfThere(path);
  }
}
