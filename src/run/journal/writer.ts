import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import type { JournalLine } from './lines.js';

/**
 * Appends lines to a run's journal. A line is in the kernel's hands when `write` returns, so it survives kill -9; only
 * `sync` waits for the disk. Lines of reused phases may be held back until the next line that matters, since losing
 * one costs nothing: it would be reused again.
 */
export class JournalWriter {
  #fd: number | undefined;
  #offset: number;
  #held: string[] = [];
  #heldBytes = 0;
  #broken: string | undefined;

  constructor(
    readonly path: string,
    startOffset = 0,
    private readonly onTrouble: (message: string) => void = () => {},
  ) {
    this.#offset = startOffset;
    try {
      this.#fd = openSync(path, 'a', 0o600);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Where the line starts and how long it is, to read it back later. */
  write(line: JournalLine, options: { readonly hold?: boolean } = {}): LinePlace {
    const place = this.writeText(JSON.stringify(line));
    if (!options.hold) this.flush();
    return place;
  }

  /** A line that is JSON already, held back like one of a reused phase. */
  writeText(text: string): LinePlace {
    const length = Buffer.byteLength(text) + 1;
    const place = { offset: this.#offset, length };
    this.#offset += length;
    // The line end is a piece of its own: putting it behind the text would copy the text.
    this.#held.push(text, '\n');
    this.#heldBytes += length;
    if (this.#heldBytes > 256 * 1024) this.flush();
    return place;
  }

  /** Before appending to the journal of a process that died in the middle of a line. */
  endTornLine(): void {
    this.#held.push('\n');
    this.#heldBytes += 1;
    this.#offset += 1;
  }

  flush(): void {
    if (this.#held.length === 0) return;
    const buffer = Buffer.from(this.#held.join(''));
    this.#held = [];
    this.#heldBytes = 0;
    if (this.#fd === undefined) return;
    try {
      let written = 0;
      while (written < buffer.length) written += writeSync(this.#fd, buffer, written);
    } catch (error) {
      this.#fail(error);
    }
  }

  sync(): void {
    this.flush();
    if (this.#fd === undefined) return;
    try {
      fdatasyncSync(this.#fd);
    } catch (error) {
      this.#fail(error);
    }
  }

  close(): void {
    this.flush();
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  /** Set once the journal can no longer be written: the run goes on, but cannot be continued. */
  get broken(): string | undefined {
    return this.#broken;
  }

  #fail(error: unknown): void {
    if (this.#fd !== undefined) {
      try {
        closeSync(this.#fd);
      } catch {
        // The descriptor is of no more use; the first error is the one that is told.
      }
    }
    this.#fd = undefined;
    if (this.#broken !== undefined) return;
    this.#broken = (error as Error).message;
    this.onTrouble(`the run's journal cannot be written (${this.#broken}): this run cannot be continued later`);
  }
}

export interface LinePlace {
  readonly offset: number;
  readonly length: number;
}
