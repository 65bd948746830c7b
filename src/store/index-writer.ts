import { closeSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere, temporaryName, writeAll } from '../util/atomic-write.js';
import { hmacSha256Stream } from '../util/digest.js';
import { macLine, rowText } from './index-lines.js';
import type { LogOptions } from './index-log.js';
import { INDEX, INDEX_LOG_TAKEN } from './paths.js';

const PIECE = 256 * 1024;

/** Writes `index.json` row by row, the least recently used first. It has a temporary name until `commit`. */
export class IndexWriter {
  readonly #dir: string;
  readonly #temporary: string;
  readonly #mac: ReturnType<typeof hmacSha256Stream> | undefined;
  readonly #file: number;
  #rows = 0;
  #pending = '{';
  #isOpen = true;

  /** Throws where the folder cannot be written. */
  constructor({ dir, signingKey }: LogOptions) {
    this.#dir = dir;
    this.#temporary = temporaryName(join(dir, INDEX));
    this.#file = openSync(this.#temporary, 'wx', 0o600);
    if (signingKey !== undefined) this.#mac = hmacSha256Stream(signingKey);
    this.#mac?.update(`${INDEX}\n`);
  }

  add(key: string, usedAt: number, rest: string): void {
    this.#pending += `${this.#rows === 0 ? '\n' : ',\n'}"${key}":${rowText(usedAt, rest)}`;
    this.#rows += 1;
    if (this.#pending.length > PIECE) this.#flush();
  }

  /** Renames the file, and removes the part of the log that is now in the index. */
  commit(): void {
    // The MAC is appended as a further member, so there must be one before it.
    if (this.#mac && this.#rows === 0) this.#pending += '\n"entries":0';
    this.#pending += '\n';
    this.#flush();
    writeAll(this.#file, this.#mac ? macLine(this.#mac.hex()) : '}');
    this.#close();
    renameSync(this.#temporary, join(this.#dir, INDEX));
    removeIfThere(join(this.#dir, INDEX_LOG_TAKEN));
  }

  /** Does nothing after `commit`. */
  abandon(): void {
    this.#close();
    removeIfThere(this.#temporary);
  }

  #flush(): void {
    writeAll(this.#file, this.#pending);
    this.#mac?.update(this.#pending);
    this.#pending = '';
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }
}
