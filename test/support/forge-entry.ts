import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { OutputFile } from '../../src/model/outcome.js';
import { encodeHolder, encodeRest } from '../../src/store/entry-format.js';
import { newHolder } from '../../src/store/holder.js';
import { blobPath } from '../../src/store/paths.js';
import type { Entry } from '../../src/store/store.js';
import { sha256Hex } from '../../src/util/digest.js';

/** The entries in a cache folder. */
export function readEntries(dir: string): Entry[] {
  return readdirSync(dir)
    .filter((name) => /^[0-9a-f]{64}\.json$/.test(name))
    .map((name) => JSON.parse(readFileSync(join(dir, name), 'utf8')) as Entry);
}

/** Writes an entry as a stranger could: everything is as it should be, and every checksum is right. */
export function forgeEntry(dir: string, entry: Entry, signingKey?: string): void {
  const holder = encodeHolder(newHolder());
  writeFileSync(join(dir, `${entry.key}.json`), holder + encodeRest(holder, entry, signingKey));
}

/** A file for a forged entry, with its content among the blobs. */
export function forgeFile(dir: string, path: string, content: string, mode = 0o755): OutputFile {
  const digest = sha256Hex(content);
  mkdirSync(dirname(blobPath(dir, digest)), { recursive: true });
  writeFileSync(blobPath(dir, digest), content);
  return { path, digest, mode };
}
