import { readSync } from 'node:fs';

const WINDOW = 256 * 1024;

/**
 * Reads pieces of a file. Pieces that follow each other are read many at once; a piece elsewhere is read alone, so that
 * a few of those do not make the buffer be read again and again.
 */
export class RowReader {
  readonly #file: number;
  readonly #window = Buffer.allocUnsafe(WINDOW);
  #at = 0;
  #filled = 0;
  /** Where the last piece ended. */
  #last = 0;

  constructor(file: number) {
    this.#file = file;
  }

  text(at: number, length: number): string {
    const follows = at >= this.#last && at - this.#last < WINDOW / 4;
    this.#last = at + length;
    if (at >= this.#at && at + length <= this.#at + this.#filled) return this.#slice(at, length);
    if (follows && length <= WINDOW) {
      this.#at = at;
      this.#filled = readSync(this.#file, this.#window, 0, WINDOW, at);
      return this.#slice(at, length);
    }
    const alone = Buffer.allocUnsafe(length);
    return alone.toString('utf8', 0, readSync(this.#file, alone, 0, length, at));
  }

  #slice(at: number, length: number): string {
    return this.#window.toString('utf8', at - this.#at, at - this.#at + length);
  }
}
