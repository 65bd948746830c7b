import { eachEntry, type ListedEntry } from '../../src/store/list-entries.js';
import type { StoreOptions } from '../../src/store/options.js';

/** All entries, the last used first. */
export async function listEntries(options: Pick<StoreOptions, 'dir' | 'signingKey'>): Promise<ListedEntry[]> {
  const entries: ListedEntry[] = [];
  await eachEntry(options, (entry) => entries.push(entry));
  return entries;
}
