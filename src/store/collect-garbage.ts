import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { type BlobList, listBlobs, NamedBlobs, removeOrphans } from './blob-list.js';
import { Bounds } from './bounds.js';
import { clockSince, isAgeBelievable, readMarker, writeMarker } from './collect-marker.js';
import { fileClock } from './file-clock.js';
import { eachName } from './folder-names.js';
import { type IndexRow, isAbout, isOfPaths } from './index-row.js';
import { compactLedger } from './ledger.js';
import { removeLeftovers } from './leftovers.js';
import { withMaintenanceLock } from './maintenance-lock.js';
import type { StoreLimits, StoreOptions } from './options.js';
import { Pace, type Watcher } from './pace.js';
import { DAMAGED, entryPath } from './paths.js';
import { type StoreIndex, withTakenIndex } from './store-index.js';

export interface Collected {
  readonly removedEntries: number;
  readonly removedBlobs: number;
  /** Claims and temporary files of processes that died. */
  readonly leftovers: number;
  readonly freedBytes: number;
  /** Entries that remain. */
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

interface CollectRequest {
  /** Default: those of the store. */
  readonly limits?: StoreLimits;
  /** How long to wait for another maintenance. */
  readonly patienceMs?: number;
  readonly watcher?: Watcher;
}

/**
 * Brings the store within its bounds, least recently used first, and clears up after processes that died. Safe beside
 * runs: what was replaced since it was looked at stays, and what is not ours is never touched.
 */
export function collectGarbage(
  options: CollectOptions,
  request: CollectRequest = {},
): Promise<Collected | { readonly busy: string }> {
  const { dir } = options;
  const { limits = options.limits } = request;
  if (!existsSync(dir)) return Promise.resolve(NOTHING);
  const pace = new Pace(request.watcher);
  return withMaintenanceLock(dir, () => collect({ ...options, limits }, pace), request.patienceMs);
}

type CollectOptions = Pick<StoreOptions, 'dir' | 'project' | 'limits' | 'signingKey'>;

async function collect(options: CollectOptions, pace: Pace): Promise<Collected> {
  const { dir, project } = options;
  const now = project.clock.now();
  // Files are old by the file system's clock. Where that cannot be read, 0 makes nothing old enough.
  const fileNow = fileClock(dir) ?? 0;
  const marker = readMarker(dir);
  const leftovers = await removeLeftovers(dir, fileNow, pace);
  return withTakenIndex(options, pace, async (index) => {
    const list = await listBlobs(dir, pace);
    const bounds = new Bounds(list, { limits: options.limits, now, byAge: isAgeBelievable(marker, now) });
    pace.begin('measuring the entries', index.keys.size);
    await index.each(pace, (row) => bounds.count(row));
    const evicted = await evict({ index, list, dir }, bounds, pace);
    const orphans = await removeOrphans({ dir, list, ...evicted }, fileNow, pace);
    removeOldDamage(dir, fileNow);
    compactLedger(project);
    const left = { entries: bounds.entries, bytes: bounds.entryBytes + list.total - orphans.bytes };
    writeMarker(dir, { at: now, ...left, puts: 0, added: 0, since: clockSince(marker, now) });
    return {
      removedEntries: evicted.entries,
      removedBlobs: orphans.removed,
      leftovers,
      freedBytes: evicted.bytes + orphans.bytes,
      ...left,
    };
  });
}

/** Removes what exceeds the bounds, and writes the index of what stays. */
async function evict(
  { index, list, dir }: { readonly index: StoreIndex; readonly list: BlobList; readonly dir: string },
  bounds: Bounds,
  pace: Pace,
) {
  const [left, dropped] = [new NamedBlobs(list), new NamedBlobs(list)];
  const isGone = new Uint8Array(index.keys.size);
  let entries = 0;
  let bytes = 0;
  pace.begin('removing entries', index.keys.size);
  await index.each(pace, (row, slot) => {
    if (bounds.mustGo(row) && removeUnchanged(dir, index.keys.keyAt(slot), row)) {
      isGone[slot] = 1;
      if (!isOfPaths(row)) entries += 1;
      bytes += row.bytes;
      dropped.add(row.blobs);
    } else left.add(row.blobs);
  });
  pace.begin('writing the index', index.keys.size);
  await index.write(pace, (slot) => isGone[slot] === 0);
  return { left, dropped, entries, bytes };
}

/** Unless it was replaced since. */
function removeUnchanged(dir: string, key: string, row: IndexRow): boolean {
  const stat = statIfThere(entryPath(dir, key));
  return stat !== undefined && isAbout(row, stat) && removeIfThere(entryPath(dir, key));
}

function removeOldDamage(dir: string, now: number): void {
  for (const name of eachName(join(dir, DAMAGED))) {
    const path = join(dir, DAMAGED, name);
    const stat = statIfThere(path);
    if (stat && now - stat.mtimeMs > DAMAGED_KEPT_MS) removeIfThere(path);
  }
}
