import {
  closeSync,
  existsSync,
  fchmodSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Output, StoredOutput } from '../../model/output.js';
import { removeIfThere, temporaryName, writeAll } from '../../util/atomic-write.js';
import { type DigestStream, sha256Stream } from '../../util/digest.js';
import { Utf8Check, wholeCharacters } from '../../util/utf8-check.js';
import { outputOfBytes } from './output.js';

/** How much of a stored output is shown. */
const PREVIEW_BYTES = 4 * 1024;
/** A file under its digest is not edited. */
const READ_ONLY = 0o400;
const [NEWLINE, RETURN] = [10, 13];

/** Writes one large output to a file named by its digest, which is made on the way. May throw what the disk throws. */
export class StoredWriter {
  readonly #folder: string;
  readonly #path: string;
  readonly #file: number;
  readonly #all: DigestStream = sha256Stream();
  readonly #utf8 = new Utf8Check();
  #bytes = 0;
  /** The digest up to the line ends that are the last bytes so far, and how many bytes those follow. */
  #trimmed: DigestStream | undefined;
  #trimmedBytes = 0;
  #head = Buffer.alloc(0);

  constructor(folder: string) {
    this.#folder = folder;
    // Without its parents: a run that has no folder has no place for outputs either.
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
    this.#path = temporaryName(join(folder, 'output'));
    this.#file = openSync(this.#path, 'wx+', 0o600);
  }

  get bytes(): number {
    return this.#bytes;
  }

  write(chunk: Buffer): void {
    writeAll(this.#file, chunk);
    this.#utf8.add(chunk);
    if (this.#head.length < PREVIEW_BYTES) {
      this.#head = Buffer.concat([this.#head, chunk.subarray(0, PREVIEW_BYTES - this.#head.length)]);
    }
    const end = contentLength(chunk);
    if (end > 0) {
      this.#all.update(chunk.subarray(0, end));
      this.#trimmed = undefined;
      this.#trimmedBytes = this.#bytes + end;
    }
    if (end < chunk.length) {
      this.#trimmed ??= this.#all.copy();
      this.#all.update(chunk.subarray(end));
    }
    this.#bytes += chunk.length;
  }

  /** As for a text in memory, line ends at the end of a text are left out. No more than `inline` is not stored. */
  finish(inline: number): Output {
    const isText = this.#utf8.holds;
    const bytes = isText ? this.#trimmedBytes : this.#bytes;
    if (bytes <= inline) return outputOfBytes(this.takeBack());
    if (bytes < this.#bytes) ftruncateSync(this.#file, bytes);
    fchmodSync(this.#file, READ_ONLY);
    const digest = ((isText && this.#trimmed) || this.#all).hex();
    renameSync(this.#path, join(this.#folder, digest));
    closeSync(this.#file);
    const stored = { digest, bytes, ...(!isText && { binary: true as const }) };
    const preview = this.#head.toString('utf8', 0, isText ? wholeCharacters(this.#head) : this.#head.length);
    return new StoredOutput(stored, preview, inFolder(this.#folder));
  }

  /** The bytes, which then are in no file. */
  takeBack(): Buffer {
    const bytes = readFileSync(this.#path);
    this.discard();
    return bytes;
  }

  discard(): void {
    closeSync(this.#file);
    removeIfThere(this.#path);
  }
}

/** Where the files of a folder with outputs are. */
export function inFolder(folder: string): (digest: string) => string {
  return (digest) => join(folder, digest);
}

/** Without the line ends that it ends with. */
function contentLength(chunk: Buffer): number {
  let end = chunk.length;
  while (end > 0 && (chunk[end - 1] === NEWLINE || chunk[end - 1] === RETURN)) end -= 1;
  return end;
}
