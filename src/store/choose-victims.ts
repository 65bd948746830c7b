import type { BlobInfo } from './blob-list.js';
import type { IndexRow } from './index-row.js';
import type { StoreLimits } from './options.js';

export interface VictimOptions {
  readonly limits: StoreLimits;
  readonly now: number;
  /** False: the clock may be wrong, and nothing goes for its age. */
  readonly byAge: boolean;
}

/**
 * What has to go: entries past the ttl they were put with and those that nobody has used for too long; then the least
 * recently used, in the order of the rows, until number and bytes are within bounds. Shared blobs go with their last
 * entry.
 */
export function chooseVictims(
  rows: ReadonlyMap<string, IndexRow>,
  blobs: ReadonlyMap<string, Pick<BlobInfo, 'bytes'>>,
  { limits, now, byAge }: VictimOptions,
): string[] {
  const size = new Sizes(rows, blobs);
  const victims = new Set<string>();
  for (const [key, row] of byAge ? rows : []) {
    if (!isTooOld(row, limits, now)) continue;
    victims.add(key);
    size.without(row);
  }
  for (const [key, row] of rows) {
    if (size.entries <= limits.maxEntries && size.bytes <= limits.maxBytes) break;
    if (victims.has(key)) continue;
    victims.add(key);
    size.without(row);
  }
  return [...victims];
}

function isTooOld({ createdAt, usedAt, ttlMs }: IndexRow, limits: StoreLimits, now: number): boolean {
  return now - usedAt > limits.maxAgeMs || (ttlMs !== undefined && now - createdAt > ttlMs);
}

/** Entries and the blobs that they name, counted once. */
class Sizes {
  entries: number;
  bytes = 0;
  readonly #blobs: ReadonlyMap<string, Pick<BlobInfo, 'bytes'>>;
  readonly #uses = new Map<string, number>();

  constructor(rows: ReadonlyMap<string, IndexRow>, blobs: ReadonlyMap<string, Pick<BlobInfo, 'bytes'>>) {
    this.#blobs = blobs;
    this.entries = rows.size;
    for (const row of rows.values()) {
      this.bytes += row.bytes;
      for (const digest of row.blobs) this.#uses.set(digest, (this.#uses.get(digest) ?? 0) + 1);
    }
    for (const digest of this.#uses.keys()) this.bytes += this.#bytesOf(digest);
  }

  without(row: IndexRow): void {
    this.entries -= 1;
    this.bytes -= row.bytes;
    for (const digest of row.blobs) {
      const left = this.#uses.get(digest)! - 1;
      this.#uses.set(digest, left);
      if (left === 0) this.bytes -= this.#bytesOf(digest);
    }
  }

  #bytesOf(digest: string): number {
    return this.#blobs.get(digest)?.bytes ?? 0;
  }
}
