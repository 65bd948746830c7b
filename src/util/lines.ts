import { StringDecoder } from 'node:string_decoder';

/**
 * Cuts a stream of bytes into lines, at LF only: JSON text may hold U+2028 and its relatives, and splitting there (as
 * `readline` does) breaks it. A character that comes in two chunks stays whole.
 */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #pieces: string[] = [];
  #length = 0;
  /** A line had more than `maxLength` characters: it is lost, and the reader should give up. */
  isTooLong = false;

  constructor(private readonly maxLength: number) {}

  /** The lines that this chunk completes. */
  push(chunk: Buffer): string[] {
    const parts = this.#decoder.write(chunk).split('\n');
    const rest = parts.pop() ?? '';
    const lines: string[] = [];
    for (const part of parts) {
      this.#keep(part);
      lines.push(this.#take());
    }
    this.#keep(rest);
    return lines;
  }

  /** The text after the last LF; undefined if there is none. */
  end(): string | undefined {
    this.#keep(this.#decoder.end());
    return this.#length > 0 ? this.#take() : undefined;
  }

  #keep(piece: string): void {
    if (piece === '' || this.isTooLong) return;
    if (this.#length + piece.length > this.maxLength) {
      this.isTooLong = true;
      this.#pieces = [];
      return;
    }
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  #take(): string {
    const line = this.#pieces.join('');
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}
