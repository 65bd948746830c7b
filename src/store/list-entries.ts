import { type IndexRow, loadIndex } from './index-file.js';
import type { StoreOptions } from './options.js';

export interface ListedEntry extends Omit<IndexRow, 'inode' | 'blobs'> {
  readonly key: string;
  /** Number of kept files. */
  readonly files: number;
}

/** All entries, the last used first. */
export function listEntries({ dir }: Pick<StoreOptions, 'dir'>): ListedEntry[] {
  const { rows } = loadIndex(dir);
  const entries = [...rows].map(([key, { inode: _inode, blobs, ...row }]) => ({ key, files: blobs.length, ...row }));
  return entries.sort((a, b) => b.usedAt - a.usedAt || (a.key < b.key ? -1 : 1));
}
