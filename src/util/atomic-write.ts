import { closeSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';

export type ErrnoError = Error & { readonly code?: string };

export type WriteResult = { readonly written: true } | { readonly failed: ErrnoError };

/** Pieces are written one after the other. */
export type FileData = string | Buffer | readonly (string | Buffer)[];

let counter = 0;

/** A name beside `path` that no other process and no other call of this one uses. */
export function temporaryName(path: string): string {
  counter += 1;
  return `${path}.${process.pid}-${counter}-${Math.floor(Math.random() * 0xffffffff).toString(36)}.tmp`;
}

/**
 * Readers see the old file or the new one, never a part. No fsync: after a power cut the file may be old or empty, and
 * whoever needs more than that puts a checksum in it. On failure nothing is left behind.
 */
export function writeFileAtomic(path: string, data: FileData, mode = 0o600): WriteResult {
  const temporary = temporaryName(path);
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      for (const piece of Array.isArray(data) ? data : [data]) writeAll(file, piece);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
    return { written: true };
  } catch (error) {
    removeIfThere(temporary);
    return { failed: error as ErrnoError };
  }
}

/** One `write` may take less than it was given (a disk that just filled up does that before it says so). */
export function writeAll(file: number, data: string | Buffer): void {
  // A text is written as it is: making bytes of it first costs as much as the write, and is garbage afterwards.
  let done = typeof data === 'string' ? writeSync(file, data) : 0;
  if (typeof data === 'string' && done === Buffer.byteLength(data)) return;
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done);
}

/** True if this call removed it; a file that is not there or cannot be removed is no reason to stop. */
export function removeIfThere(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    // Gone already, or in a folder that has become read-only: nothing that the caller could do about it.
    return false;
  }
}
