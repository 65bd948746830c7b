import { type IndexRow, loadIndex } from './index-file.js';
import type { StoreOptions } from './options.js';

export interface ListedEntry extends Omit<IndexRow, 'inode' | 'blobs' | 'ttlMs'> {
  readonly key: string;
  /** Number of kept files. */
  readonly files: number;
}

/** All entries, the last used first. */
export function listEntries(options: Pick<StoreOptions, 'dir' | 'signingKey'>): ListedEntry[] {
  const { rows } = loadIndex(options);
  const entries = Array.from(rows, ([key, { inode: _inode, blobs, ttlMs: _ttl, ...row }]) => {
    return { key, files: blobs.length, ...row };
  });
  return entries.reverse();
}
