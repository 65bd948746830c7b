import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { type ErrnoError, removeIfThere } from '../util/atomic-write.js';
import { digestFile } from '../util/digest-file.js';
import { statIfThere } from '../util/stat.js';
import { nextTurn } from '../util/timer.js';
import { type BlobInfo, listBlobs } from './blob-list.js';
import { blobsOf } from './entry-blobs.js';
import { decodeEntry } from './entry-format.js';
import { fileClock } from './file-clock.js';
import { listFolder, takeIndex, writeIndex } from './index-file.js';
import { removeLeftovers } from './leftovers.js';
import { withMaintenanceLock } from './maintenance-lock.js';
import type { CheckOptions, StoreOptions } from './options.js';
import { entryPath, keyOfEntryName } from './paths.js';
import { FOLDER_SET_ASIDE } from './read-entry.js';
import { setAside } from './set-aside.js';
import type { Entry } from './store.js';

/** One thing that was looked at, and what was found and put right. */
export interface VerifyStep {
  readonly name: 'folder' | 'entries' | 'files' | 'leftovers' | 'index';
  readonly checked: number;
  readonly problems: readonly string[];
}

export type VerifyOptions = Pick<StoreOptions, 'dir' | 'project' | 'signingKey'> & CheckOptions;

/** What is remembered of a good entry that has blobs: all of them may be a gigabyte. */
interface Named {
  readonly key: string;
  readonly blobs: readonly string[];
  readonly files: Entry['files'];
}

/** Reads everything. Damaged entries are set aside, damaged blobs removed, the index is made again. */
export async function verifyStore(options: VerifyOptions): Promise<readonly VerifyStep[] | { readonly busy: string }> {
  const { dir, project } = options;
  if (!existsSync(dir)) return [];
  return withMaintenanceLock(dir, async () => {
    const now = project.clock.now();
    const folder = verifyFolder(dir);
    const blobs = listBlobs(dir);
    const entries = await verifyEntries(options, now);
    const files = await verifyBlobs(blobs, entries.valid);
    const left = removeLeftovers(dir, fileClock(dir) ?? 0);
    const index = takeIndex(options);
    writeIndex(options, index.rows);
    return [
      folder,
      { name: 'entries', checked: entries.checked, problems: entries.problems },
      files,
      {
        name: 'leftovers',
        checked: left,
        problems: left === 0 ? [] : [`${left} left by processes that died: removed`],
      },
      { name: 'index', checked: index.rows.size, problems: [] },
    ] satisfies VerifyStep[];
  });
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

async function verifyEntries(
  { dir, signingKey, recomputeKey }: VerifyOptions,
  now: number,
): Promise<{ checked: number; problems: string[]; valid: Named[] }> {
  const keys = listFolder(dir)
    .map(keyOfEntryName)
    .filter((key) => key !== undefined)
    .sort();
  const problems: string[] = [];
  const valid: Named[] = [];
  for (const [i, key] of keys.entries()) {
    // The lock shows signs of life in between.
    if (i % 500 === 499) await nextTurn();
    const read = readWhole(dir, key);
    if ('folder' in read) {
      problems.push(`${key}: ${setAside(dir, key, now) ? FOLDER_SET_ASIDE : 'there is a folder in its place'}`);
      continue;
    }
    if ('unreadable' in read) {
      // Too many open files, no permission: says nothing about the entry, so it stays.
      problems.push(`${key}: ${read.unreadable}`);
      continue;
    }
    const decoded = decodeEntry(read.bytes.toString('utf8'), key, signingKey);
    if ('entry' in decoded) {
      const expected = recomputeKey?.(decoded.entry.identity);
      if (expected === undefined || expected === key) {
        const blobs = blobsOf(decoded.entry);
        if (blobs.length > 0) valid.push({ key, blobs, files: decoded.entry.files });
        continue;
      }
      problems.push(`${key}: its identity belongs to another key: set aside`);
      setAside(dir, key, now);
    } else {
      problems.push(`${key}: ${decoded.miss.reason}`);
      if (decoded.miss.code === 'damaged') setAside(dir, key, now);
    }
  }
  return { checked: keys.length, problems, valid };
}

function readWhole(dir: string, key: string): { bytes: Buffer } | { unreadable: string } | { folder: true } {
  try {
    return { bytes: readFileSync(entryPath(dir, key)) };
  } catch (error) {
    const { code, message } = error as ErrnoError;
    return code === 'EISDIR' ? { folder: true } : { unreadable: message };
  }
}

async function verifyBlobs(blobs: ReadonlyMap<string, BlobInfo>, entries: readonly Named[]): Promise<VerifyStep> {
  const problems: string[] = [];
  const bad = new Set<string>();
  for (const [digest, { path, bytes }] of blobs) {
    try {
      if ((await digestFile(path, bytes)) === digest) continue;
      removeIfThere(path);
      problems.push(`kept file ${digest} is damaged: removed`);
      bad.add(digest);
    } catch (error) {
      problems.push(`kept file ${digest}: ${(error as Error).message}`);
    }
  }
  for (const entry of entries) {
    const missing = entry.blobs.filter((digest) => !blobs.has(digest) || bad.has(digest));
    const names = missing.map((digest) => entry.files.find((file) => file.digest === digest)?.path ?? 'its output');
    if (names.length > 0) problems.push(`${entry.key}: ${names.join(', ')} cannot be restored`);
  }
  return { name: 'files', checked: blobs.size, problems };
}
