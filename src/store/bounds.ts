import { type BlobList, NamedBlobs } from './blob-list.js';
import { type IndexRow, isOfPaths } from './index-row.js';
import type { StoreLimits } from './options.js';

interface BoundOptions {
  readonly limits: StoreLimits;
  readonly now: number;
  /** False: the clock may be wrong, so age removes nothing. */
  readonly byAge: boolean;
}

/**
 * Chooses the entries to remove: those past their ttl and those unused for too long; then the least recently used,
 * until number and bytes are within the limits. A shared blob goes with its last entry. The caller passes all rows to
 * `count` first, then to `mustGo` in the same order, the least recently used first.
 */
export class Bounds {
  /** Results that stay. Entries of path sets are not counted, here or in any other count of entries. */
  entries = 0;
  entryBytes = 0;
  #blobBytes = 0;
  readonly #blobs: NamedBlobs;
  readonly #options: BoundOptions;

  constructor(list: BlobList, options: BoundOptions) {
    this.#blobs = new NamedBlobs(list);
    this.#options = options;
  }

  count(row: IndexRow): void {
    if (this.#isTooOld(row)) return;
    if (!isOfPaths(row)) this.entries += 1;
    this.entryBytes += row.bytes;
    this.#blobBytes += this.#blobs.add(row.blobs);
  }

  mustGo(row: IndexRow): boolean {
    if (this.#isTooOld(row)) return true;
    const { maxEntries, maxBytes } = this.#options.limits;
    if (this.entries <= maxEntries && this.entryBytes + this.#blobBytes <= maxBytes) return false;
    if (!isOfPaths(row)) this.entries -= 1;
    this.entryBytes -= row.bytes;
    this.#blobBytes -= this.#blobs.remove(row.blobs);
    return true;
  }

  #isTooOld({ createdAt, usedAt, ttlMs }: IndexRow): boolean {
    const { limits, now, byAge } = this.#options;
    return byAge && (now - usedAt > limits.maxAgeMs || (ttlMs !== undefined && now - createdAt > ttlMs));
  }
}
