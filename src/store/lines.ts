import { readSync } from 'node:fs';

const CHUNK = 256 * 1024;

/** One line of a file. Reading the next line may overwrite its buffer. */
export interface Line {
  readonly buffer: Buffer;
  readonly start: number;
  /** Without its line end. */
  readonly end: number;
  /** Where the line begins in the file. */
  readonly at: number;
}

/** Reads a file line by line, whatever its size. */
export function* linesOf(file: number): Generator<Line> {
  let buffer = Buffer.allocUnsafe(CHUNK);
  let filled = 0;
  /** Where the buffer begins in the file. */
  let at = 0;
  for (;;) {
    const read = readSync(file, buffer, filled, buffer.length - filled, at + filled);
    filled += read;
    let start = 0;
    for (let end = indexOfLineEnd(buffer, start, filled); end >= 0; end = indexOfLineEnd(buffer, start, filled)) {
      yield { buffer, start, end, at: at + start };
      start = end + 1;
    }
    if (read === 0) {
      if (start < filled) yield { buffer, start, end: filled, at: at + start };
      return;
    }
    const rest = buffer.subarray(start, filled);
    if (rest.length > buffer.length / 2) buffer = Buffer.concat([rest], buffer.length * 2);
    else rest.copy(buffer);
    filled = rest.length;
    at += start;
  }
}

function indexOfLineEnd(buffer: Buffer, start: number, filled: number): number {
  const end = buffer.indexOf(10, start);
  return end < filled ? end : -1;
}
