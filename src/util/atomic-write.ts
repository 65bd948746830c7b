import { closeSync, constants, fstatSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { statIfThere } from './stat.js';

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

/** A temporary file that was not written to for this long belongs to nobody any more. */
const ABANDONED_MS = 60 * 60_000;

/** Removes what killed processes have left beside this file while they wrote it. `now`: by the file system's clock. */
export function removeAbandoned(path: string, now: number): void {
  const [folder, prefix] = [dirname(path), `${basename(path)}.`];
  for (const name of namesIn(folder)) {
    if (!name.startsWith(prefix) || !/^\d+-\d+-[0-9a-z]+\.tmp$/.test(name.slice(prefix.length))) continue;
    const stat = statIfThere(join(folder, name));
    if (stat && now - stat.mtimeMs > ABANDONED_MS) removeIfThere(join(folder, name));
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not to be listed: then it is not ours to tidy up.
    return [];
  }
}

/** Whether a path is such a name: a file that is just being written, or was left behind by a process that was killed. */
export function isTemporary(path: string): boolean {
  return path.endsWith('.tmp') && /.\.\d+-\d+-[0-9a-z]{1,7}\.tmp$/.test(path);
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

const { O_WRONLY, O_NOFOLLOW = 0 } = constants;

/**
 * For a note of a few bytes that always has the same length: written over the old one, which costs a twentieth of
 * replacing it (a file system that is given a new file for an old one makes sure that it is on the disk). A reader may
 * see a mixture of both, so it must be able to tell that from a note.
 */
export function writeNote(path: string, text: string): WriteResult {
  return overwrite(path, text) ? { written: true } : writeFileAtomic(path, text);
}

function overwrite(path: string, text: string): boolean {
  try {
    const file = openSync(path, O_WRONLY | O_NOFOLLOW);
    try {
      const { size, nlink } = fstatSync(file);
      // A file with a second name may be somebody else's: a copy of the project that was made of links.
      return size === text.length && nlink === 1 && writeSync(file, text) === size;
    } finally {
      closeSync(file);
    }
  } catch {
    // Not there yet, or not to be written: it is replaced, if that is possible.
    return false;
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
