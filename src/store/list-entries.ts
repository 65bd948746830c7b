import { type IndexRow, isOfPaths } from './index-row.js';
import type { StoreOptions } from './options.js';
import { Pace, type Watcher } from './pace.js';
import { withIndex } from './store-index.js';

export interface ListedEntry extends Omit<IndexRow, 'inode' | 'blobs' | 'ttlMs'> {
  readonly key: string;
  /** Number of kept files. */
  readonly files: number;
}

/** Calls back for each entry, the last used first, until the callback returns `false`. Returns how many there are. */
export function eachEntry(
  options: Pick<StoreOptions, 'dir' | 'signingKey'>,
  visit: (entry: ListedEntry) => unknown,
  watcher?: Watcher,
): Promise<number> {
  const pace = new Pace(watcher);
  return withIndex(options, pace, async (index) => {
    const { order, keys } = index;
    let entries = order.length;
    for (let at = order.length - 1; at >= 0; at--) {
      const slot = order[at]!;
      const row = index.row(slot);
      if (row && isOfPaths(row)) entries -= 1;
      else if (row && visit(listed(keys.keyAt(slot), row)) === false) break;
      if (pace.tick()) await pace.rest();
    }
    return entries;
  });
}

/** A row as `cache list` shows it. */
export function listed(key: string, { inode: _inode, blobs, ttlMs: _ttl, ...row }: IndexRow): ListedEntry {
  return { key, files: blobs.length, ...row };
}
