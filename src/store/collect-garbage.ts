import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { type BlobInfo, listBlobs, removeOrphans } from './blob-list.js';
import { writeMarker } from './collect-marker.js';
import { type IndexRow, listFolder, lookOver, writeIndex } from './index-file.js';
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

/**
 * Brings the store within its bounds, least recently used first, and clears up after processes that died. Safe beside
 * runs: what was used or replaced since it was looked at stays, and what is not ours is never touched.
 */
export function collectGarbage(
  options: Pick<StoreOptions, 'dir' | 'project' | 'limits'>,
  limits: StoreLimits = options.limits,
): Promise<Collected | { readonly busy: string }> {
  const { dir, project } = options;
  if (!existsSync(dir)) return Promise.resolve(NOTHING);
  return withMaintenanceLock(dir, project.clock, () => {
    const now = project.clock.now();
    const leftovers = removeLeftovers(dir, now);
    const rows = new Map(lookOver(dir).rows);
    const blobs = listBlobs(dir);
    const victims = chooseVictims(rows, blobs, { limits, now });
    const dropped: IndexRow[] = [];
    for (const key of victims) {
      const row = rows.get(key)!;
      if (!removeUnused(dir, key, row)) continue;
      rows.delete(key);
      dropped.push(row);
    }
    const orphans = removeOrphans(blobs, { left: namedBy(rows.values()), dropped: namedBy(dropped) }, now);
    removeOldDamage(dir, now);
    compactLedger(dir);
    writeIndex(dir, rows);
    const left = totals(rows, listBlobs(dir));
    writeMarker(dir, { at: now, ...left, puts: 0, added: 0 });
    return {
      removedEntries: dropped.length,
      removedBlobs: orphans.removed,
      leftovers,
      freedBytes: dropped.reduce((sum, row) => sum + row.bytes, orphans.bytes),
      ...left,
    };
  });
}

/** Least recently used first, until age, number and bytes are within bounds. Shared blobs go with their last entry. */
export function chooseVictims(
  rows: ReadonlyMap<string, IndexRow>,
  blobs: ReadonlyMap<string, BlobInfo>,
  { limits, now }: { limits: StoreLimits; now: number },
): string[] {
  const uses = new Map<string, number>();
  for (const row of rows.values()) for (const digest of row.blobs) uses.set(digest, (uses.get(digest) ?? 0) + 1);
  let entries = rows.size;
  let bytes = 0;
  for (const row of rows.values()) bytes += row.bytes;
  for (const digest of uses.keys()) bytes += blobs.get(digest)?.bytes ?? 0;

  const victims: string[] = [];
  for (const [key, row] of [...rows].sort(([, a], [, b]) => a.usedAt - b.usedAt)) {
    const tooOld = now - row.usedAt > limits.maxAgeMs;
    if (!tooOld && entries <= limits.maxEntries && bytes <= limits.maxBytes) break;
    victims.push(key);
    entries -= 1;
    bytes -= row.bytes;
    for (const digest of row.blobs) {
      const left = uses.get(digest)! - 1;
      uses.set(digest, left);
      if (left === 0) bytes -= blobs.get(digest)?.bytes ?? 0;
    }
  }
  return victims;
}

/** Unless it was used or replaced since. */
export function removeUnused(dir: string, key: string, row: IndexRow): boolean {
  const stat = statIfThere(entryPath(dir, key));
  return stat?.ino === row.inode && stat.mtimeMs === row.usedAt && removeIfThere(entryPath(dir, key));
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
