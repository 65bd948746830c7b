import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { writeAll } from '../../util/atomic-write.js';
import { whyUnwritableAt } from '../../util/why-unwritable.js';
import type { JournalLine } from './lines.js';

const HELD_BYTES = 64 * 1024;
/** The most bytes that one UTF-16 unit takes as UTF-8. */
const MOST_BYTES_PER_UNIT = 3;
const NEWLINE = 10;
const LONG_PIECE = 1024 * 1024;

/**
 * Appends lines to a run's journal. A line is in the kernel's hands when `write` returns, so it survives kill -9; only
 * `sync` waits for the disk. Lines of results that are in the store may be held back until the next line that matters,
 * since losing one costs nothing: it would be reused again.
 */
export class JournalWriter {
  #fd: number | undefined;
  #offset: number;
  readonly #held = Buffer.allocUnsafe(HELD_BYTES);
  #heldBytes = 0;
  #flushesSoon = false;
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
  write(line: JournalLine, urgency: Urgency = 'now'): LinePlace {
    const offset = this.#offset;
    this.#append(JSON.stringify(line));
    const place = { offset, length: this.#offset - offset };
    if (urgency === 'now') this.flush();
    if (urgency === 'soon') this.#flushSoon();
    return place;
  }

  /** Called before appending to the journal of a process that died in the middle of a line. */
  endTornLine(): void {
    this.#append('');
  }

  flush(): void {
    if (this.#heldBytes === 0) return;
    const bytes = this.#held.subarray(0, this.#heldBytes);
    this.#heldBytes = 0;
    this.#writeOut(bytes);
  }

  #flushSoon(): void {
    if (this.#flushesSoon) return;
    this.#flushesSoon = true;
    setImmediate(() => {
      this.#flushesSoon = false;
      this.flush();
    });
  }

  /** Encodes at once: the garbage collector copies a thousand waiting texts again and again. */
  #append(text: string): void {
    const most = text.length * MOST_BYTES_PER_UNIT + 1;
    if (most > HELD_BYTES - this.#heldBytes) this.flush();
    if (most > HELD_BYTES) {
      this.#appendLong(text);
      return;
    }
    const end = this.#heldBytes + this.#held.write(text, this.#heldBytes);
    this.#held[end] = NEWLINE;
    this.#offset += end + 1 - this.#heldBytes;
    this.#heldBytes = end + 1;
  }

  /** Writes in pieces: an output of many megabytes should not be in memory three times more. */
  #appendLong(text: string): void {
    for (let start = 0, end = 0; start < text.length; start = end) {
      end = start + LONG_PIECE;
      // Both halves of a character belong together.
      if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
      const bytes = Buffer.from(text.slice(start, end));
      this.#offset += bytes.length;
      this.#writeOut(bytes);
    }
    this.#offset += 1;
    this.#writeOut(Buffer.of(NEWLINE));
  }

  #writeOut(bytes: Buffer): void {
    if (this.#fd === undefined) return;
    try {
      writeAll(this.#fd, bytes);
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

  /** The journal's length in bytes. */
  get bytes(): number {
    return this.#offset;
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
        // The descriptor is of no more use; the run reports the first error.
      }
    }
    this.#fd = undefined;
    if (this.#broken !== undefined) return;
    this.#broken = whyUnwritableAt(this.path, error);
    const what = `the run's journal cannot be written (${this.#broken}): this run cannot be continued later`;
    this.onTrouble(isFull(error) ? what : `${what}; make the folder writable, or work in another one with --cwd`);
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** `soon`: with the next line that matters, at the latest when this turn of the event loop is over. */
export type Urgency = 'now' | 'soon' | 'held';

export interface LinePlace {
  readonly offset: number;
  readonly length: number;
}
