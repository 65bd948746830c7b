import { join } from 'node:path';
import { listBlobs } from './blob-list.js';
import { totals } from './collect-garbage.js';
import { listFolder, loadIndex } from './index-file.js';
import type { StoreOptions } from './options.js';
import { DAMAGED } from './paths.js';

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
  /** Entries that no row of the index knew: they had to be read. */
  readonly unindexed: number;
}

export function storeStatus(options: Pick<StoreOptions, 'dir' | 'signingKey'>): StoreStatus {
  const { dir } = options;
  const { rows, unreadable, read } = loadIndex(options);
  const blobs = listBlobs(dir);
  let oldest: number | undefined;
  for (const { createdAt } of rows.values()) if (oldest === undefined || createdAt < oldest) oldest = createdAt;
  const damaged = unreadable.length + listFolder(join(dir, DAMAGED)).length;
  return { dir, ...totals(rows, blobs), blobs: blobs.size, oldest, damaged, unindexed: read };
}
