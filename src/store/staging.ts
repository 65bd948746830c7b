import { appendFileSync, closeSync, openSync, readFileSync, readSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { writeAll, writeFileAtomic } from '../util/atomic-write.js';
import { sha256Stream } from '../util/digest.js';
import { statIfThere } from '../util/stat.js';
import { ArchiveProblem } from './archive-format.js';
import { blobsOf } from './entry-blobs.js';
import { decodeEntry } from './entry-format.js';
import { type IndexRow, isOfPaths, rowOf } from './index-row.js';
import { KeyTable } from './key-table.js';
import { linesOf } from './lines.js';
import { withSetsHere } from './merge-entry.js';
import type { ImportOptions } from './options.js';
import { isLink, isSafeLink, LONGEST_LINK, problemOfFiles } from './output-path.js';
import { blobPath, entryPath } from './paths.js';

/** File names that no blob has. */
const PACK = 'pack';
const ROWS = 'rows';
const ROWS_AT_ONCE = 500;
/** A larger blob is unpacked into a file of its own, which only has to be renamed. */
const LARGE = 1024 ** 2;
const FUTURE_MS = 5 * 60_000;

/** `at`: where the entry is in the pack. The inode is known when the entry is placed. */
type StagedRow = Omit<IndexRow, 'inode'> & { readonly key: string; readonly at: number };

interface Packed {
  readonly at: number;
  readonly bytes: number;
}

/**
 * What an archive holds, unpacked and checked, before any of it is used. Small records are packed into one file: a
 * million files would have to be removed again when a person changes their mind.
 */
export class Staging {
  readonly keys = new KeyTable();
  /** How many of the entries are results; the others are path sets. */
  results = 0;
  readonly blobs = new KeyTable();
  /** Of all entries and blobs. */
  bytes = 0;
  readonly #folder: string;
  readonly #options: ImportOptions;
  readonly #pack: number;
  #packed = 0;
  /** Where each blob is in the pack; -1 for one with a file of its own. */
  readonly #blobAt: number[] = [];
  readonly #blobBytes: number[] = [];
  #rows: StagedRow[] = [];

  constructor(folder: string, options: ImportOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#pack = openSync(this.#pathOf(PACK), 'wx+', 0o600);
  }

  close(): void {
    closeSync(this.#pack);
  }

  /** Unpacks one record and looks at it. */
  async receive(
    { type, name, size }: { readonly type: 'blob' | 'entry'; readonly name: string; readonly size: number },
    read: (take: (piece: Buffer) => void) => Promise<void>,
  ): Promise<void> {
    const known = type === 'entry' ? this.keys : this.blobs;
    if (known.has(name)) throw new ArchiveProblem(`${type} ${name} is in it twice`);
    this.bytes += size;
    if (type === 'blob' && size > LARGE) return this.#receiveLarge(name, size, read);
    const pieces: Buffer[] = [];
    const hash = sha256Stream();
    await read((piece) => {
      // The reader's buffer goes on; only entries and small files are held in memory.
      pieces.push(Buffer.from(piece));
      hash.update(piece);
    });
    const bytes = Buffer.concat(pieces);
    const packed = { at: this.#packed, bytes: bytes.length };
    if (type === 'entry') this.#addEntry(name, bytes, packed);
    else this.#addBlob(name, hash.hex(), packed);
    writeAll(this.#pack, bytes);
    this.#packed += bytes.length;
  }

  async #receiveLarge(name: string, size: number, read: (take: (piece: Buffer) => void) => Promise<void>) {
    const hash = sha256Stream();
    const file = openSync(this.#pathOf(name), 'wx', 0o600);
    try {
      await read((piece) => {
        hash.update(piece);
        writeAll(file, piece);
      });
    } finally {
      closeSync(file);
    }
    this.#addBlob(name, hash.hex(), { at: -1, bytes: size });
  }

  checkCounts({ entries, blobs }: { readonly entries: number; readonly blobs: number }): void {
    if (entries !== this.keys.size || blobs !== this.blobs.size) throw new ArchiveProblem('something is missing');
  }

  /** The rows of its entries, some at a time: all of them may be many. */
  *rows(): Generator<readonly StagedRow[]> {
    this.#spool();
    const file = openSync(this.#pathOf(ROWS), 'r');
    try {
      for (const { buffer, start, end } of linesOf(file)) {
        yield JSON.parse(buffer.toString('utf8', start, end)) as StagedRow[];
      }
    } finally {
      closeSync(file);
    }
  }

  /** Writes an entry into the store, and returns its inode and size. Throws where it cannot be written. */
  placeEntry({ key, at, bytes, runId }: StagedRow): { readonly inode: number; readonly bytes: number } {
    const target = entryPath(this.#options.dir, key);
    const text = this.#unpack({ at, bytes });
    const merged = isOfPaths({ runId }) ? withSetsHere(text, key, this.#options) : undefined;
    write(merged ?? text, target);
    return { inode: statIfThere(target)?.ino ?? 0, bytes: merged?.length ?? bytes };
  }

  placeBlob(slot: number, target: string): void {
    const packed = { at: this.#blobAt[slot]!, bytes: this.#blobBytes[slot]! };
    if (packed.at < 0) renameSync(this.#pathOf(this.blobs.keyAt(slot)), target);
    else write(this.#unpack(packed), target);
  }

  #unpack({ at, bytes }: Packed): Buffer {
    const buffer = Buffer.allocUnsafe(bytes);
    return buffer.subarray(0, readSync(this.#pack, buffer, 0, bytes, at));
  }

  #pathOf(name: string): string {
    return join(this.#folder, name);
  }

  #spool(): void {
    appendFileSync(this.#pathOf(ROWS), `${JSON.stringify(this.#rows)}\n`, { mode: 0o600 });
    this.#rows = [];
  }

  #addBlob(name: string, digest: string, { at, bytes }: Packed): void {
    if (digest !== name) throw new ArchiveProblem(`blob ${name} is not what its name says`);
    this.blobs.add(name);
    this.#blobAt.push(at);
    this.#blobBytes.push(bytes);
  }

  #addEntry(key: string, text: Buffer, { at, bytes }: Packed): void {
    const { signingKey, recomputeKey, project } = this.#options;
    const refuse = (why: string) => new ArchiveProblem(`entry ${key}: ${why}`);
    const decoded = decodeEntry(text.toString('utf8'), key, signingKey);
    if ('miss' in decoded) throw refuse(decoded.miss.reason.replace('damaged entry set aside', 'it is damaged'));
    const { identity, createdAt, files } = decoded.entry;
    const expected = recomputeKey?.(identity);
    if (expected !== undefined && expected !== key) throw refuse('its identity belongs to another key');
    if (createdAt > project.clock.now() + FUTURE_MS) throw refuse('it is from the future');
    const problem =
      problemOfFiles(files) ?? files.map((file) => this.#problemOf(file)).find((why) => why !== undefined);
    if (problem !== undefined) throw refuse(problem);
    if (blobsOf(decoded.entry).some((digest) => this.#sizeOf(digest) === undefined))
      throw refuse('its output is missing');
    this.keys.add(key);
    const { inode: _none, ...row } = rowOf(decoded.entry, { ino: 0, size: bytes, usedAt: project.clock.now() });
    if (!isOfPaths(row)) this.results += 1;
    this.#rows.push({ key, at, ...row });
    if (this.#rows.length >= ROWS_AT_ONCE) this.#spool();
  }

  #problemOf(file: { readonly path: string; readonly digest: string; readonly mode: number }): string | undefined {
    const { path, digest } = file;
    const size = this.#sizeOf(digest);
    if (size === undefined) return `the file ${path} is missing`;
    if (!isLink(file) || (size <= LONGEST_LINK && isSafeLink(path, this.#textOf(digest)))) return undefined;
    return `${path} is a link that leaves the project, or leads to .git or .pi`;
  }

  /** Of a blob in the archive, or in the store already. */
  #sizeOf(digest: string): number | undefined {
    const slot = this.blobs.find(digest);
    return slot < 0 ? statIfThere(blobPath(this.#options.dir, digest))?.size : this.#blobBytes[slot];
  }

  #textOf(digest: string): string {
    const slot = this.blobs.find(digest);
    if (slot < 0) return readFileSync(blobPath(this.#options.dir, digest), 'utf8');
    return this.#unpack({ at: this.#blobAt[slot]!, bytes: this.#blobBytes[slot]! }).toString('utf8');
  }
}

function write(bytes: Buffer, target: string): void {
  const written = writeFileAtomic(target, bytes);
  if ('failed' in written) throw written.failed;
}
