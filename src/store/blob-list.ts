import { join } from 'node:path';
import { removeIfThere } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { eachName } from './folder-names.js';
import { KeyTable } from './key-table.js';
import type { Pace } from './pace.js';
import { BLOBS, blobPath, isKey } from './paths.js';

/** A blob may be older than the entry that is about to name it: only one this old, and named by none, is an orphan. */
const ORPHAN_AFTER_MS = 10 * 60_000;

/** The kept files, by slot. A file that was removed meanwhile has zero bytes. */
export interface BlobList {
  readonly digests: KeyTable;
  readonly bytes: Float64Array;
  readonly mtimeMs: Float64Array;
  readonly total: number;
}

export async function listBlobs(dir: string, pace: Pace): Promise<BlobList> {
  const digests = new KeyTable();
  pace.begin('reading the kept files');
  for (const prefix of eachName(join(dir, BLOBS))) {
    if (!/^[0-9a-f]{2}$/.test(prefix)) continue;
    for (const name of eachName(join(dir, BLOBS, prefix))) {
      if (isKey(name) && name.startsWith(prefix)) digests.add(name);
      if (pace.tick()) await pace.rest();
    }
  }
  const bytes = new Float64Array(digests.size);
  const mtimeMs = new Float64Array(digests.size);
  let total = 0;
  pace.begin('looking at the kept files', digests.size);
  for (let slot = 0; slot < digests.size; slot++) {
    const stat = statIfThere(blobPath(dir, digests.keyAt(slot)));
    if (stat?.isFile()) {
      bytes[slot] = stat.size;
      mtimeMs[slot] = stat.mtimeMs;
      total += stat.size;
    }
    if (pace.tick()) await pace.rest();
  }
  return { digests, bytes, mtimeMs, total };
}

/** Which blobs are named, by slot. */
export class NamedBlobs {
  readonly #list: BlobList;
  readonly #counts: Uint32Array;

  constructor(list: BlobList) {
    this.#list = list;
    this.#counts = new Uint32Array(list.digests.size);
  }

  /** Returns the bytes of the blobs that no entry named before. */
  add(digests: readonly string[]): number {
    return this.#change(digests, 1, 1);
  }

  /** Returns the bytes of the blobs that no entry names any more. */
  remove(digests: readonly string[]): number {
    return this.#change(digests, -1, 0);
  }

  has(slot: number): boolean {
    return this.#counts[slot]! > 0;
  }

  #change(digests: readonly string[], by: 1 | -1, edge: 0 | 1): number {
    const { bytes, digests: known } = this.#list;
    let changed = 0;
    for (const digest of digests) {
      const slot = known.find(digest);
      if (slot < 0) continue;
      this.#counts[slot]! += by;
      if (this.#counts[slot] === edge) changed += bytes[slot]!;
    }
    return changed;
  }
}

/** The bytes of the blobs that only dropped entries name. */
export function bytesOnlyIn({ digests, bytes }: BlobList, dropped: NamedBlobs, left: NamedBlobs): number {
  let sum = 0;
  for (let slot = 0; slot < digests.size; slot++) if (dropped.has(slot) && !left.has(slot)) sum += bytes[slot]!;
  return sum;
}

/**
 * Removes blobs that no entry names. A blob of a dropped entry goes at once; any other may be about to get an entry, so
 * it must be older. A phase that keeps the same content touches the blob, which saves it; if the phase is too late, its
 * entry is a miss. `now`: see `fileClock`.
 */
export async function removeOrphans(
  { dir, list, left, dropped }: { dir: string; list: BlobList; left: NamedBlobs; dropped: NamedBlobs },
  now: number,
  pace: Pace,
): Promise<{ removed: number; bytes: number }> {
  const { digests, bytes, mtimeMs } = list;
  let removed = 0;
  let freed = 0;
  for (let slot = 0; slot < digests.size; slot++) {
    if (pace.tick()) await pace.rest();
    if (left.has(slot) || (!dropped.has(slot) && now - mtimeMs[slot]! < ORPHAN_AFTER_MS)) continue;
    const path = blobPath(dir, digests.keyAt(slot));
    if (statIfThere(path)?.mtimeMs !== mtimeMs[slot] || !removeIfThere(path)) continue;
    removed += 1;
    freed += bytes[slot]!;
  }
  return { removed, bytes: freed };
}
