import { join } from 'node:path';
import { listBlobs } from './blob-list.js';
import { eachName } from './folder-names.js';
import { isOfPaths } from './index-row.js';
import type { StoreOptions } from './options.js';
import { Pace, type Watcher } from './pace.js';
import { DAMAGED } from './paths.js';
import { withIndex } from './store-index.js';

export interface StoreStatus {
  readonly dir: string;
  readonly entries: number;
  /** Kept files included. */
  readonly bytes: number;
  readonly blobs: number;
  /** When the oldest entry was made; undefined when there is none. */
  readonly oldest?: number;
  /** Entries that were set aside or cannot be read. */
  readonly damaged: number;
  /** Entries without a row in the index: they had to be read. */
  readonly unindexed: number;
}

export function storeStatus(
  options: Pick<StoreOptions, 'dir' | 'signingKey'>,
  watcher?: Watcher,
): Promise<StoreStatus> {
  const { dir } = options;
  const pace = new Pace(watcher);
  return withIndex(options, pace, async (index) => {
    let entries = 0;
    let bytes = 0;
    let oldest = Number.POSITIVE_INFINITY;
    await index.each(pace, (row) => {
      if (!isOfPaths(row)) entries += 1;
      bytes += row.bytes;
      oldest = Math.min(oldest, row.createdAt);
    });
    const blobs = await listBlobs(dir, pace);
    const setAside = [...eachName(join(dir, DAMAGED))].length;
    return {
      dir,
      entries,
      bytes: bytes + blobs.total,
      blobs: blobs.digests.size,
      ...(entries === 0 ? {} : { oldest }),
      damaged: index.unreadable.length + setAside,
      unindexed: index.read,
    };
  });
}
