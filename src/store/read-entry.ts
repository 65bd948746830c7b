import { closeSync, fstatSync, openSync, readSync, type Stats, utimesSync } from 'node:fs';
import type { ErrnoError } from '../util/atomic-write.js';
import { formatDuration } from '../util/duration.js';
import { decodeEntry } from './entry-format.js';
import { entryPath } from './paths.js';
import { setAside } from './set-aside.js';
import type { Entry, GetResult, StoreMiss } from './store.js';

export interface ReadRequest {
  readonly dir: string;
  readonly key: string;
  readonly signingKey: Buffer | string | undefined;
  readonly now: number;
  readonly ttlMs?: number;
}

/** `seen` tells this file from a later one of the same name; undefined when there was none. */
export type ReadResult = GetResult & { readonly seen?: string };

const FUTURE_MS = 5 * 60_000;
/** The entry's mtime is its last use, and exact enough if it is set this often. */
const TOUCH_AFTER_MS = 3_600_000;

const ABSENT: ReadResult = { miss: { code: 'absent', reason: 'no entry' } };

/** Reads without a lock: an entry is complete from the moment it has its name. */
export function readEntry(request: ReadRequest): ReadResult {
  const path = entryPath(request.dir, request.key);
  const file = readBytes(path);
  if ('error' in file) {
    if (file.error.code === 'ENOENT') return ABSENT;
    return miss('unreadable', `entry cannot be read (${file.error.code ?? file.error.message})`);
  }
  const seen = fileStamp(file.stat);
  const decoded = decodeEntry(file.bytes, request.key, request.signingKey);
  if ('miss' in decoded) {
    if (decoded.miss.code === 'damaged') setAside(request.dir, request.key, request.now);
    return { ...decoded, seen };
  }
  const stale = ageProblem(decoded.entry, request);
  if (stale) return { miss: stale, seen };
  touch(path, file.stat, request.now);
  return decoded;
}

export function fileStamp(stat: Stats): string {
  return `${stat.ino}:${stat.size}`;
}

/** Smaller than what `readFileSync` does (one stat serves the size and the last use), and a little quicker. */
function readBytes(path: string): { bytes: Buffer; stat: Stats } | { error: ErrnoError } {
  try {
    const file = openSync(path, 'r');
    try {
      const stat = fstatSync(file);
      const bytes = Buffer.allocUnsafe(stat.size);
      let length = 0;
      while (length < stat.size) {
        const read = readSync(file, bytes, length, stat.size - length, null);
        if (read === 0) break;
        length += read;
      }
      return { bytes: bytes.subarray(0, length), stat };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return { error: error as ErrnoError };
  }
}

function ageProblem({ createdAt }: Entry, { now, ttlMs }: ReadRequest): StoreMiss | undefined {
  const age = now - createdAt;
  if (age < -FUTURE_MS) return { code: 'future', reason: `entry is from the future (${formatDuration(-age)} ahead)` };
  if (ttlMs !== undefined && age > ttlMs) {
    return { code: 'expired', reason: `expired: ${formatDuration(age)} > ${formatDuration(ttlMs)}` };
  }
  return undefined;
}

function touch(path: string, stat: Stats, now: number): void {
  if (now - stat.mtimeMs < TOUCH_AFTER_MS) return;
  try {
    utimesSync(path, now / 1_000, now / 1_000);
  } catch {
    // A read-only folder keeps no record of use; the entry is as good as before.
  }
}

function miss(code: StoreMiss['code'], reason: string): ReadResult {
  return { miss: { code, reason } };
}
