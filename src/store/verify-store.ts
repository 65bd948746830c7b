import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { type ErrnoError, removeIfThere } from '../util/atomic-write.js';
import { digestFile } from '../util/digest-file.js';
import { statIfThere } from '../util/stat.js';
import { listBlobs } from './blob-list.js';
import { blobsOf } from './entry-blobs.js';
import { decodeEntry } from './entry-format.js';
import { fileClock } from './file-clock.js';
import { removeLeftovers } from './leftovers.js';
import { withMaintenanceLock } from './maintenance-lock.js';
import type { CheckOptions, StoreOptions } from './options.js';
import { Pace, type Watcher } from './pace.js';
import { blobPath, entryPath } from './paths.js';
import { FOLDER_SET_ASIDE } from './read-entry.js';
import { setAside } from './set-aside.js';
import type { Entry } from './store.js';
import { keysIn, withTakenIndex } from './store-index.js';

/** One thing that was looked at, and what was found and put right. */
interface VerifyStep {
  readonly name: 'folder' | 'entries' | 'files' | 'leftovers' | 'index';
  readonly checked: number;
  readonly problems: readonly string[];
}

type VerifyOptions = Pick<StoreOptions, 'dir' | 'project' | 'signingKey'> & CheckOptions;

/** Reads everything. Damaged entries are set aside, damaged blobs removed, the index is made again. */
export async function verifyStore(
  options: VerifyOptions,
  watcher?: Watcher,
): Promise<readonly VerifyStep[] | { readonly busy: string }> {
  const { dir } = options;
  if (!existsSync(dir)) return [];
  const pace = new Pace(watcher);
  return withMaintenanceLock(dir, () => verify(options, pace));
}

async function verify(options: VerifyOptions, pace: Pace): Promise<readonly VerifyStep[]> {
  const { dir } = options;
  const folder = verifyFolder(dir);
  const blobs = await verifyBlobs(dir, pace);
  const entries = await verifyEntries(options, blobs.isGood, pace);
  const left = await removeLeftovers(dir, fileClock(dir) ?? 0, pace);
  const rows = await withTakenIndex(options, pace, async (index) => {
    await index.write(pace);
    return index.order.length;
  });
  const problems = left === 0 ? [] : [`${left} left by processes that died: removed`];
  return [
    folder,
    { name: 'entries', checked: entries.checked, problems: entries.problems.sort() },
    { name: 'files', checked: blobs.checked, problems: [...blobs.problems, ...entries.incomplete.sort()] },
    { name: 'leftovers', checked: left, problems },
    { name: 'index', checked: rows, problems: [] },
  ];
}

function verifyFolder(dir: string): VerifyStep {
  const mode = statIfThere(dir)?.mode ?? 0;
  if ((mode & 0o077) === 0) return { name: 'folder', checked: 1, problems: [] };
  try {
    chmodSync(dir, 0o700);
    return { name: 'folder', checked: 1, problems: ['others could read the folder: made private'] };
  } catch (error) {
    return { name: 'folder', checked: 1, problems: [`others can read the folder: ${(error as Error).message}`] };
  }
}

interface CheckedEntries {
  checked: number;
  readonly problems: string[];
  /** Entries whose files are not all there. */
  readonly incomplete: string[];
}

async function verifyEntries(
  options: VerifyOptions,
  isGoodBlob: (digest: string) => boolean,
  pace: Pace,
): Promise<CheckedEntries> {
  const { dir } = options;
  const keys = await keysIn(dir, pace);
  const found: CheckedEntries = { checked: keys.size, problems: [], incomplete: [] };
  pace.begin('reading entries', keys.size);
  for (let slot = 0; slot < keys.size; slot++) {
    const key = keys.keyAt(slot);
    const entry = verifyEntry(options, key);
    if (typeof entry === 'string') found.problems.push(`${key}: ${entry}`);
    else {
      const nameOf = (digest: string) => entry.files.find((file) => file.digest === digest)?.path ?? 'its output';
      const missing = blobsOf(entry)
        .filter((digest) => !isGoodBlob(digest))
        .map(nameOf);
      if (missing.length > 0) found.incomplete.push(`${key}: ${missing.join(', ')} cannot be restored`);
    }
    if (pace.tick()) await pace.rest();
  }
  return found;
}

/** The entry, or what is wrong with it, which has been dealt with. */
function verifyEntry({ dir, signingKey, recomputeKey, project }: VerifyOptions, key: string): Entry | string {
  const putAside = () => setAside(dir, key, project.clock.now());
  const read = readWhole(dir, key);
  if ('folder' in read) return putAside() ? FOLDER_SET_ASIDE : 'there is a folder in its place';
  // Too many open files, no permission: says nothing about the entry, so it stays.
  if ('unreadable' in read) return read.unreadable;
  const decoded = decodeEntry(read.bytes.toString('utf8'), key, signingKey);
  if ('miss' in decoded) {
    if (decoded.miss.code === 'damaged') putAside();
    return decoded.miss.reason;
  }
  const expected = recomputeKey?.(decoded.entry.identity);
  if (expected === undefined || expected === key) return decoded.entry;
  putAside();
  return 'its identity belongs to another key: set aside';
}

function readWhole(dir: string, key: string): { bytes: Buffer } | { unreadable: string } | { folder: true } {
  try {
    return { bytes: readFileSync(entryPath(dir, key)) };
  } catch (error) {
    const { code, message } = error as ErrnoError;
    return code === 'EISDIR' ? { folder: true } : { unreadable: message };
  }
}

async function verifyBlobs(dir: string, pace: Pace) {
  const { digests, bytes } = await listBlobs(dir, pace);
  const problems: string[] = [];
  const bad = new Set<string>();
  pace.begin('reading kept files', digests.size);
  for (let slot = 0; slot < digests.size; slot++) {
    const digest = digests.keyAt(slot);
    const path = blobPath(dir, digest);
    try {
      if ((await digestFile(path, bytes[slot]!)) !== digest) {
        removeIfThere(path);
        problems.push(`kept file ${digest} is damaged: removed`);
        bad.add(digest);
      }
    } catch (error) {
      problems.push(`kept file ${digest}: ${(error as Error).message}`);
    }
    if (pace.tick()) await pace.rest();
  }
  // One that was kept since the list was made counts too.
  const isThere = (digest: string) => digests.has(digest) || statIfThere(blobPath(dir, digest)) !== undefined;
  return { checked: digests.size, problems, isGood: (digest: string) => !bad.has(digest) && isThere(digest) };
}
