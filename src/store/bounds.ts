import { type BlobList, NamedBlobs } from './blob-list.js';
import { type IndexRow, isOfPaths } from './index-row.js';
import type { StoreLimits } from './options.js';

export interface BoundOptions {
  readonly limits: StoreLimits;
  readonly now: number;
  /** False: the clock may be wrong, and nothing goes for its age. */
  readonly byAge: boolean;
}

/**
 * What has to go: entries past the ttl they were put with and those that nobody has used for too long; then the least
 * recently used, until number and bytes are within bounds. Shared blobs go with their last entry. All rows are counted
 * first, then asked about in the same order, the least recently used first.
 */
export class Bounds {
  /** Of what stays; what only says where to look is none, as in every other count of entries. */
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
