import { closeSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { namesIn } from './if-there.js';
import { statIfThere } from './stat.js';

export type ErrnoError = Error & { readonly code?: string };

type WriteResult = { readonly written: true } | { readonly failed: ErrnoError };

/** Pieces are written one after the other. */
export type FileData = string | Buffer | readonly (string | Buffer)[];

let counter = 0;

/** A name beside `path` that no other process and no other call of this one uses. */
export function temporaryName(path: string): string {
  counter += 1;
  return `${path}.${process.pid}-${counter}-${Math.floor(Math.random() * 0xffffffff).toString(36)}.tmp`;
}

/** No process is still writing to a temporary file that is older than this. */
const ABANDONED_MS = 60 * 60_000;

/**
 * Removes temporary files that killed processes left in a folder, of `file` or of any. `now`: the file system's time.
 */
export function removeAbandoned(folder: string, now: number, file?: string): void {
  for (const name of namesIn(folder)) {
    if (!isTemporary(name) || (file !== undefined && !name.startsWith(`${file}.`))) continue;
    const stat = statIfThere(join(folder, name));
    if (stat && now - stat.mtimeMs > ABANDONED_MS) removeIfThere(join(folder, name));
  }
}

/** As `writeFileAtomic`, for a file that is written seldom: also removes what killed processes left beside it. */
export function writeFileTidily(path: string, data: FileData, mode?: number): WriteResult {
  const result = writeFileAtomic(path, data, mode);
  const stat = 'written' in result ? statIfThere(path) : undefined;
  if (stat) removeAbandoned(dirname(path), stat.mtimeMs, basename(path));
  return result;
}

/** Whether `temporaryName` made this name: the file is being written, or a killed process left it behind. */
export function isTemporary(path: string): boolean {
  return path.endsWith('.tmp') && /.\.\d+-\d+-[0-9a-z]{1,7}\.tmp$/.test(path);
}

/**
 * Readers see the old file or the new one, never a part. No fsync: after a power cut the file may be old or empty, so
 * content that must be whole carries a checksum. A failed write leaves nothing behind.
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

/** One `write` may write less than it was given, for example on a disk that is nearly full. */
export function writeAll(file: number, data: string | Buffer): void {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  let done = 0;
  while (done < bytes.length) done += writeSync(file, bytes, done, bytes.length - done);
}

/** True if this call removed it. A file that does not exist or cannot be removed is no error. */
export function removeIfThere(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    // Gone already, or in a read-only folder.
    return false;
  }
}
