import { closeSync, createWriteStream, openSync, readFileSync, readSync, renameSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { removeIfThere, temporaryName } from '../util/atomic-write.js';
import { sha256Stream } from '../util/digest.js';
import { digestFile } from '../util/digest-file.js';
import { statIfThere } from '../util/stat.js';
import { whyUnwritable } from '../util/why-unwritable.js';
import { MAGIC } from './archive-format.js';
import { decodeEntry } from './entry-format.js';
import { loadIndex } from './index-file.js';
import type { StoreOptions } from './options.js';
import { blobPath, entryPath } from './paths.js';

export interface Exported {
  readonly entries: number;
  readonly blobs: number;
  /** Of the archive. */
  readonly bytes: number;
  /** Damaged or unsigned entries, and ones whose files are not all there. */
  readonly skipped: number;
}

type Location = Pick<StoreOptions, 'dir' | 'signingKey'>;

/** Writes every good entry with its files into one archive. The same store gives the same bytes. */
export async function exportArchive(options: Location, file: string): Promise<Exported | { readonly failed: string }> {
  const temporary = temporaryName(file);
  try {
    const chosen = await choose(options);
    const source = Readable.from(records(options.dir, chosen), { objectMode: false });
    await pipeline(source, createGzip({ level: 6 }), createWriteStream(temporary, { mode: 0o600, flags: 'wx' }));
    const bytes = statIfThere(temporary)?.size ?? 0;
    renameSync(temporary, file);
    return { entries: chosen.keys.length, blobs: chosen.blobs.length, bytes, skipped: chosen.skipped };
  } catch (error) {
    removeIfThere(temporary);
    return { failed: whyUnwritable(error) };
  }
}

interface Choice {
  readonly keys: readonly string[];
  readonly blobs: readonly string[];
  readonly skipped: number;
}

async function choose({ dir, signingKey }: Location): Promise<Choice> {
  const { rows, unreadable } = loadIndex({ dir, signingKey });
  const whole = new Map<string, boolean>();
  const keys: string[] = [];
  const blobs = new Set<string>();
  for (const [key, row] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1))) {
    for (const digest of row.blobs) {
      if (!whole.has(digest)) whole.set(digest, await isWhole(dir, digest));
    }
    if (!row.blobs.every((digest) => whole.get(digest)) || !isGood(dir, key, signingKey)) continue;
    keys.push(key);
    for (const digest of row.blobs) blobs.add(digest);
  }
  return { keys, blobs: [...blobs].sort(), skipped: rows.size - keys.length + unreadable.length };
}

function isGood(dir: string, key: string, signingKey: Buffer | string | undefined): boolean {
  try {
    return 'entry' in decodeEntry(readFileSync(entryPath(dir, key), 'utf8'), key, signingKey);
  } catch {
    // Evicted this moment, or not readable: not to be exported.
    return false;
  }
}

async function isWhole(dir: string, digest: string): Promise<boolean> {
  const path = blobPath(dir, digest);
  const stat = statIfThere(path);
  if (!stat?.isFile()) return false;
  try {
    return (await digestFile(path, stat.size)) === digest;
  } catch {
    // Gone or not readable: what needs it stays at home.
    return false;
  }
}

async function* records(dir: string, { keys, blobs }: Choice): AsyncGenerator<Buffer> {
  const hash = sha256Stream();
  const counted = (chunk: Buffer) => {
    hash.update(chunk);
    return chunk;
  };
  yield counted(Buffer.from(MAGIC));
  for (const digest of blobs) {
    for (const chunk of record('blob', digest, blobPath(dir, digest))) yield counted(chunk);
  }
  for (const key of keys) {
    for (const chunk of record('entry', key, entryPath(dir, key))) yield counted(chunk);
  }
  yield Buffer.from(`end ${keys.length} ${blobs.length} ${hash.hex()}\n`);
}

const CHUNK = 256 * 1024;

function* record(type: string, name: string, path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    const size = statIfThere(path)?.size ?? 0;
    yield Buffer.from(`${type} ${name} ${size}\n`);
    let left = size;
    while (left > 0) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK, left));
      const read = readSync(file, chunk);
      if (read === 0) throw new Error(`${path} has become shorter`);
      yield chunk.subarray(0, read);
      left -= read;
    }
    yield Buffer.from('\n');
  } finally {
    closeSync(file);
  }
}
