import { readFileSync } from 'node:fs';
import { withLargeOutput } from './entry-blobs.js';
import { decodeEntry } from './entry-format.js';
import { eachName } from './folder-names.js';
import type { StoreOptions } from './options.js';
import { entryPath, isKey, keyOfEntryName } from './paths.js';
import type { Entry } from './store.js';

export type Shown =
  | { readonly entry: Entry }
  | { readonly none: true }
  | { readonly ambiguous: readonly string[] }
  | { readonly problem: string };

/** The entry whose key begins with these characters. Showing it does not count as a use. */
export function showEntry({ dir, signingKey }: Pick<StoreOptions, 'dir' | 'signingKey'>, prefix: string): Shown {
  if (!/^[0-9a-f]{1,64}$/.test(prefix)) return { none: true };
  const keys = isKey(prefix) ? [prefix] : keysBeginning(dir, prefix);
  const [key, other] = keys;
  if (key === undefined) return { none: true };
  if (other !== undefined) return { ambiguous: keys };
  try {
    const decoded = decodeEntry(readFileSync(entryPath(dir, key), 'utf8'), key, signingKey);
    return 'entry' in decoded ? { entry: withLargeOutput(decoded.entry, dir) } : { problem: decoded.miss.reason };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { none: true } : { problem: message };
  }
}

function keysBeginning(dir: string, prefix: string): string[] {
  const keys: string[] = [];
  for (const name of eachName(dir)) {
    const key = name.startsWith(prefix) ? keyOfEntryName(name) : undefined;
    if (key !== undefined) keys.push(key);
  }
  return keys.sort();
}
