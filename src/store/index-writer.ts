import { closeSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere, temporaryName, writeAll } from '../util/atomic-write.js';
import { hmacSha256Stream } from '../util/digest.js';
import { macLine, rowText } from './index-lines.js';
import type { LogOptions } from './index-log.js';
import { INDEX, INDEX_LOG_TAKEN } from './paths.js';

const PIECE = 256 * 1024;

/** Writes `index.json` row by row, the least recently used first. Nobody sees it before `commit`. */
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

  /** What was folded into the index goes out of the log. */
  commit(): void {
    // A MAC is one more member, so there must be one before it.
    if (this.#mac && this.#rows === 0) this.#pending += '\n"entries":0';
    this.#pending += '\n';
    this.#flush();
    writeAll(this.#file, this.#mac ? macLine(this.#mac.hex()) : '}');
    this.#close();
    renameSync(this.#temporary, join(this.#dir, INDEX));
    removeIfThere(join(this.#dir, INDEX_LOG_TAKEN));
  }

  /** Unless it was committed. */
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
