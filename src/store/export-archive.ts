import {
  closeSync,
  createWriteStream,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { removeAbandoned, removeIfThere, temporaryName } from '../util/atomic-write.js';
import { sha256Stream } from '../util/digest.js';
import { digestFile } from '../util/digest-file.js';
import { whyUnwritable } from '../util/why-unwritable.js';
import { MAGIC } from './archive-format.js';
import { blobsOf } from './entry-blobs.js';
import { decodeEntry } from './entry-format.js';
import { KeyTable } from './key-table.js';
import type { StoreOptions } from './options.js';
import { Interrupted, Pace, type Watcher } from './pace.js';
import { blobPath, entryPath } from './paths.js';
import { sortedSlots } from './sort-slots.js';
import { type StoreIndex, withIndex } from './store-index.js';

export interface Exported {
  /** Results. Entries of path sets are exported, too, but not counted. */
  readonly entries: number;
  readonly blobs: number;
  /** Size of the archive. */
  readonly bytes: number;
  /** Damaged or unsigned entries, and ones whose files are not all there. */
  readonly skipped: number;
}

type Location = Pick<StoreOptions, 'dir' | 'signingKey'>;

/**
 * Writes every good entry with its files into one archive. The same store gives the same bytes. Takes no lock: an entry
 * that is cleared meanwhile is left out; one that is replaced is left out or exported as it is then, with its files.
 */
export async function exportArchive(
  options: Location,
  file: string,
  watcher?: Watcher,
): Promise<Exported | { readonly failed: string }> {
  const temporary = temporaryName(file);
  const pace = new Pace(watcher);
  try {
    const written = await withIndex(options, pace, (index) => writeArchive(options, { index, temporary }, pace));
    const { size, mtimeMs } = statSync(temporary);
    renameSync(temporary, file);
    removeAbandoned(dirname(file), mtimeMs, basename(file));
    return { entries: written.entries, blobs: written.blobs.size, bytes: size, skipped: written.skipped };
  } catch (error) {
    removeIfThere(temporary);
    if (error instanceof Interrupted) throw error;
    return { failed: whyUnwritable(error) };
  }
}

async function writeArchive(
  options: Location,
  { index, temporary }: { readonly index: StoreIndex; readonly temporary: string },
  pace: Pace,
): Promise<Written> {
  const written = new Written(options, pace);
  const source = Readable.from(inChunks(written.records(index)), { objectMode: false });
  await pipeline(source, createGzip({ level: 6 }), createWriteStream(temporary, { mode: 0o600, flags: 'wx' }));
  return written;
}

const CHUNK = 256 * 1024;

/** Joins small records: a stream is slow with small pieces. */
async function* inChunks(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    pending.push(piece);
    bytes += piece.length;
    if (bytes < CHUNK) continue;
    yield Buffer.concat(pending);
    pending = [];
    bytes = 0;
  }
  yield Buffer.concat(pending);
}

class Written {
  entries = 0;
  #paths = 0;
  skipped = 0;
  readonly blobs = new KeyTable();
  readonly #options: Location;
  readonly #pace: Pace;
  readonly #hash = sha256Stream();

  constructor(options: Location, pace: Pace) {
    this.#options = options;
    this.#pace = pace;
  }

  async *records(index: StoreIndex): AsyncGenerator<Buffer> {
    const named = new KeyTable();
    await index.each(this.#pace, (row) => {
      for (const digest of row.blobs) named.add(digest);
    });
    yield this.#counted(Buffer.from(MAGIC));
    yield* this.#blobRecords(named);
    yield* this.#entryRecords(index);
    yield Buffer.from(`end ${this.entries + this.#paths} ${this.blobs.size} ${this.#hash.hex()}\n`);
  }

  async *#blobRecords(named: KeyTable): AsyncGenerator<Buffer> {
    const pace = this.#pace;
    pace.begin('exporting kept files', named.size);
    for (const slot of await sortedSlots(named, pace)) {
      const digest = named.keyAt(slot);
      const file = await openWhole(this.#options.dir, digest);
      if (file !== undefined) {
        for (const chunk of blobRecord(digest, file)) yield this.#counted(chunk);
        this.blobs.add(digest);
      }
      if (pace.tick()) await pace.rest();
    }
  }

  async *#entryRecords({ keys }: StoreIndex): AsyncGenerator<Buffer> {
    const pace = this.#pace;
    const sorted = await sortedSlots(keys, pace);
    pace.begin('exporting entries', keys.size);
    for (const slot of sorted) {
      const key = keys.keyAt(slot);
      const good = this.#goodEntry(key);
      if (good) {
        const { text } = good;
        yield this.#counted(Buffer.concat([Buffer.from(`entry ${key} ${text.length}\n`), text, Buffer.from('\n')]));
        if (good.isOfPaths) this.#paths += 1;
        else this.entries += 1;
      } else this.skipped += 1;
      if (pace.tick()) await pace.rest();
    }
  }

  #counted(chunk: Buffer): Buffer {
    this.#hash.update(chunk);
    return chunk;
  }

  /** The entry as it is now, if the archive already holds its files. */
  #goodEntry(key: string): { readonly text: Buffer; readonly isOfPaths: boolean } | undefined {
    const { dir, signingKey } = this.#options;
    try {
      const text = readFileSync(entryPath(dir, key));
      const decoded = decodeEntry(text.toString('utf8'), key, signingKey);
      if ('miss' in decoded || !blobsOf(decoded.entry).every((digest) => this.blobs.has(digest))) return undefined;
      return { text, isOfPaths: decoded.entry.pathSets !== undefined };
    } catch {
      // Cleared meanwhile, or not readable: not exported.
      return undefined;
    }
  }
}

interface OpenBlob {
  readonly file: number;
  readonly size: number;
}

/** Opens the file before it checks it: an open file stays readable. Undefined when it is missing or damaged. */
async function openWhole(dir: string, digest: string): Promise<OpenBlob | undefined> {
  const path = blobPath(dir, digest);
  try {
    const file = openSync(path, 'r');
    try {
      const stat = fstatSync(file);
      if (stat.isFile() && (await digestFile(path, stat.size)) === digest) return { file, size: stat.size };
    } catch {
      // Removed while it was read: its content is not verified.
    }
    closeSync(file);
  } catch {
    // Gone or not readable: entries that need it are not exported.
  }
  return undefined;
}

function* blobRecord(digest: string, { file, size }: OpenBlob): Generator<Buffer> {
  try {
    yield Buffer.from(`blob ${digest} ${size}\n`);
    let left = size;
    while (left > 0) {
      const chunk = Buffer.allocUnsafe(Math.min(CHUNK, left));
      const read = readSync(file, chunk);
      if (read === 0) throw new Error(`the kept file ${digest} has become shorter`);
      yield chunk.subarray(0, read);
      left -= read;
    }
    yield Buffer.from('\n');
  } finally {
    closeSync(file);
  }
}
