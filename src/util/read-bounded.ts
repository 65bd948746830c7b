import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';

/**
 * A regular file's bytes, at most one more than `limit`, which shows that there are too many. Undefined when it does
 * not exist, is not readable or is no regular file: a pipe or a device might never end.
 */
export function readBounded(path: string, limit: number): Buffer | undefined {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) return undefined;
    return stat.size > limit ? readStart(path, limit + 1) : readFileSync(path);
  } catch {
    // Missing, a broken link, no permission: the same to the caller.
    return undefined;
  }
}

function readStart(path: string, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const file = openSync(path, 'r');
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, length, 0));
  } finally {
    closeSync(file);
  }
}
