import { located, type StoredOutput } from '../model/output.js';
import { blobPath } from './paths.js';
import type { Entry, KeptEntry } from './store.js';

/** Digests of everything that an entry has beside its own file: files that it restores, and a large output. */
export function blobsOf({ files, output }: Pick<Entry, 'files' | 'output'>): string[] {
  const { stored } = output as Partial<StoredOutput>;
  const ofOutput = stored ? [stored.digest, ...(stored.json ? [stored.json.digest] : [])] : [];
  return [...files.map(({ digest }) => digest), ...new Set(ofOutput)];
}

/** The entry as it was read: its large output is among the blobs. */
export function withLargeOutput<E extends KeptEntry>(entry: E, dir: string): E {
  const output = located(entry.output, (digest) => blobPath(dir, digest));
  return output === entry.output ? entry : { ...entry, output };
}
