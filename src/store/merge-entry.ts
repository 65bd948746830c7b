import { readFileSync } from 'node:fs';
import { decodeEntry, encodeHolder, encodeRest } from './entry-format.js';
import { newHolder } from './holder.js';
import type { ImportOptions } from './options.js';
import { mergedSets } from './path-sets.js';
import { entryPath } from './paths.js';
import type { Entry } from './store.js';

type Place = Pick<ImportOptions, 'dir' | 'signingKey'>;

/** Merges an imported entry of path sets with the one in the store; undefined where either is missing. */
export function withSetsHere(text: Buffer, key: string, { dir, signingKey }: Place): Buffer | undefined {
  const come = read(() => text, key, signingKey);
  const here = read(() => readFileSync(entryPath(dir, key)), key, signingKey);
  if (!come?.pathSets || !here?.pathSets) return undefined;
  const [newer, older] = come.createdAt > here.createdAt ? [come, here] : [here, come];
  const holder = encodeHolder(newHolder());
  const entry = { ...newer, pathSets: mergedSets(newer.pathSets!, older.pathSets!) };
  return Buffer.from(holder + encodeRest(holder, entry, signingKey));
}

function read(bytes: () => Buffer, key: string, signingKey: Place['signingKey']): Entry | undefined {
  try {
    const decoded = decodeEntry(bytes().toString('utf8'), key, signingKey);
    return 'entry' in decoded ? decoded.entry : undefined;
  } catch {
    // None is here.
    return undefined;
  }
}
