import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere } from '../util/atomic-write.js';
import { bytesOnlyIn, listBlobs, NamedBlobs, removeOrphans } from './blob-list.js';
import { fileClock } from './file-clock.js';
import { type IndexRow, isOfPaths } from './index-row.js';
import { withMaintenanceLock } from './maintenance-lock.js';
import type { StoreOptions } from './options.js';
import { Pace, type Watcher } from './pace.js';
import { DAMAGED, entryPath } from './paths.js';
import { type StoreIndex, withIndex, withTakenIndex } from './store-index.js';

export interface ClearRequest {
  readonly flow?: string;
  readonly phase?: string;
  /** Counted from when the entry was made. */
  readonly olderThanMs?: number;
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

interface Cleared {
  readonly entries: number;
  /** Entries, and the kept files that only they named. */
  readonly bytes: number;
  readonly keys: Iterable<string>;
}

/** Removes the entries that fit every condition; with none given, nothing. A phase that computes now still stores. */
export async function clearEntries(
  options: ClearOptions,
  request: ClearRequest,
  watcher?: Watcher,
): Promise<Cleared | { readonly busy: string }> {
  const { dir } = options;
  if (!existsSync(dir)) return { entries: 0, bytes: 0, keys: [] };
  const pace = new Pace(watcher);
  const withRows = request.dryRun ? withIndex : withTakenIndex;
  const work = () => withRows(options, pace, (index) => clear(index, { ...options, ...request }, pace));
  return withMaintenanceLock(dir, work);
}

type ClearOptions = Pick<StoreOptions, 'dir' | 'project' | 'signingKey'>;

async function clear(index: StoreIndex, request: ClearOptions & ClearRequest, pace: Pace): Promise<Cleared> {
  const { dir, project, all, dryRun } = request;
  const now = project.clock.now();
  const list = await listBlobs(dir, pace);
  const [left, dropped] = [new NamedBlobs(list), new NamedBlobs(list)];
  const isChosen = new Uint8Array(index.keys.size);
  let entries = 0;
  let bytes = 0;
  pace.begin('choosing entries', index.keys.size);
  await index.each(pace, (row, slot) => {
    if (!fits(row, request, now)) return void left.add(row.blobs);
    isChosen[slot] = 1;
    if (!isOfPaths(row)) entries += 1;
    bytes += row.bytes;
    dropped.add(row.blobs);
  });
  bytes += bytesOnlyIn(list, dropped, left);
  const { unreadable } = index;
  const cleared: Cleared = {
    entries: entries + (all ? unreadable.length : 0),
    bytes,
    keys: chosenKeys(index, isChosen),
  };
  if (dryRun) return cleared;
  await removeChosen(index, { dir, isChosen }, pace);
  if (all) {
    for (const key of unreadable) removeIfThere(entryPath(dir, key));
    rmSync(join(dir, DAMAGED), { recursive: true, force: true });
  }
  await removeOrphans({ dir, list, left, dropped }, fileClock(dir) ?? 0, pace);
  return cleared;
}

async function removeChosen(
  index: StoreIndex,
  { dir, isChosen }: { readonly dir: string; readonly isChosen: Uint8Array },
  pace: Pace,
): Promise<void> {
  pace.begin('removing entries', index.keys.size);
  for (const slot of index.order) {
    if (isChosen[slot] === 1) removeIfThere(entryPath(dir, index.keys.keyAt(slot)));
    if (pace.tick()) await pace.rest();
  }
  pace.begin('writing the index', index.keys.size);
  await index.write(pace, (slot) => isChosen[slot] === 0);
}

/** Lazy: there may be many. */
function chosenKeys({ keys, order }: StoreIndex, isChosen: Uint8Array): Iterable<string> {
  return {
    *[Symbol.iterator]() {
      for (const slot of order) if (isChosen[slot] === 1) yield keys.keyAt(slot);
    },
  };
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
