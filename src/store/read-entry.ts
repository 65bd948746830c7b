import { constants, readFileSync, type Stats, statSync } from 'node:fs';
import type { ErrnoError } from '../util/atomic-write.js';
import { formatDuration } from '../util/duration.js';
import { statIfThere } from '../util/stat.js';
import { withLargeOutput } from './entry-blobs.js';
import type { Decoded } from './entry-format.js';
import { entryPath } from './paths.js';
import { setAside } from './set-aside.js';
import type { Entry, GetResult, KeptEntry, StoreMiss } from './store.js';

interface ReadRequest {
  readonly dir: string;
  readonly key: string;
  readonly signingKey: Buffer | string | undefined;
  readonly now: number;
  readonly ttlMs?: number;
  /** The entry probably exists: read it without a stat first. */
  readonly likely?: boolean;
}

/** `stamp` distinguishes this file from a later one of the same name; undefined when there was none. */
type ReadResult<E> = GetResult<E> & { readonly stamp?: string };

/** Non-blocking: a pipe in the place of an entry must not hold up the run. */
const UTF8 = {
  encoding: 'utf8',
  // Node takes a number as well as a letter, though its types do not say so.
  flag: (constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)) as unknown as 'r',
} as const;

const FUTURE_MS = 5 * 60_000;

export const FOLDER_SET_ASIDE = 'a folder in the place of the entry was set aside';

const ABSENT: ReadResult<never> = { miss: { code: 'absent', reason: 'no entry' } };

/** `decodeKept`, or `decodeEntry` for an entry with its identity. */
export type Decode<E> = (text: string, key: string, signingKey: ReadRequest['signingKey']) => Decoded<E>;

/** Reads without a lock: an entry is complete from the moment it has its name. */
export function readEntry<E extends KeptEntry>(request: ReadRequest, decode: Decode<E>): ReadResult<E> {
  const path = entryPath(request.dir, request.key);
  let text: string;
  try {
    // Most keys that are looked up in a cold run are new, and an exception costs several times as much as this.
    if (!request.likely && !statSync(path, { throwIfNoEntry: false })) return ABSENT;
    text = readFileSync(path, UTF8);
  } catch (error) {
    const { code, message } = error as ErrnoError;
    // ENOTDIR: a file is in the folder's place.
    if (code === 'ENOENT' || code === 'ENOTDIR') return ABSENT;
    // A folder in the entry's place would block every put, and the phase would be paid for in every run.
    if (code === 'EISDIR' && setAside(request.dir, request.key, request.now)) return miss('damaged', FOLDER_SET_ASIDE);
    return miss('unreadable', `entry cannot be read (${code ?? message})`);
  }
  const decoded = decode(text, request.key, request.signingKey);
  if ('miss' in decoded) {
    const stamp = stampOf(path);
    if (decoded.miss.code === 'damaged') setAside(request.dir, request.key, request.now);
    return { ...decoded, stamp };
  }
  const stale = ageProblem(decoded.entry, request);
  if (stale) return { miss: stale, stamp: stampOf(path) };
  return { entry: withLargeOutput(decoded.entry, request.dir) };
}

export function fileStamp(stat: Stats): string {
  return `${stat.ino}:${stat.size}`;
}

function stampOf(path: string): string | undefined {
  const stat = statIfThere(path);
  return stat && fileStamp(stat);
}

/** Why an entry may not be used at this time; undefined when it may. */
export function ageProblem(
  { createdAt }: Pick<Entry, 'createdAt'>,
  { now, ttlMs }: Pick<ReadRequest, 'now' | 'ttlMs'>,
): StoreMiss | undefined {
  const age = now - createdAt;
  if (age < -FUTURE_MS) return { code: 'future', reason: `entry is from the future (${formatDuration(-age)} ahead)` };
  if (ttlMs !== undefined && age > ttlMs) {
    return { code: 'expired', reason: `expired: ${formatDuration(age)} > ${formatDuration(ttlMs)}` };
  }
  return undefined;
}

function miss(code: StoreMiss['code'], reason: string): ReadResult<never> {
  return { miss: { code, reason } };
}
