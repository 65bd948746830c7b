import { removeIfThere, writeFileAtomic } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { openBlobs } from './blobs.js';
import { Claims, encodeSafely } from './claims.js';
import { decodeEntry, decodeKept, encodeHolder } from './entry-format.js';
import { FolderAccess } from './folder-access.js';
import { newHolder } from './holder.js';
import { IndexLog } from './index-log.js';
import { rowOf } from './index-row.js';
import { OutputLedger } from './ledger.js';
import type { StoreOptions } from './options.js';
import { entryPath, isKey } from './paths.js';
import { type Decode, fileStamp, readEntry } from './read-entry.js';
import { Seal } from './secret.js';
import { setAside } from './set-aside.js';
import type { Entry, GetOptions, GetResult, KeptEntry, PutResult, Store } from './store.js';

/** What this process has added; decides whether a collection is due. */
interface Additions {
  entries: number;
  bytes: number;
}

export interface DiskStore extends Store {
  readonly options: StoreOptions;
  readonly added: Readonly<Additions>;
  /** This process made the folder: it holds only what was added since. */
  readonly isNew: boolean;
  /** What the run has used and put; written when the run ends. */
  readonly log: IndexLog;
  /** Which files of the project have contents that came from here. */
  readonly ledger: OutputLedger;
}

const ABSENT: GetResult<never> = { miss: { code: 'absent', reason: 'no entry' } };

/** Entries as files in one folder. Nothing is read or made before it is needed. */
export function openStore(options: StoreOptions): DiskStore {
  const { dir, signingKey, project } = options;
  const access = new FolderAccess(options);
  const seal = new Seal(access, signingKey);
  const added: Additions = { entries: 0, bytes: 0 };
  /** By key, the stamp of an entry that was a miss or was reported before: `storedSince` must not report it again. */
  const unfit = new Map<string, string>();
  /** The last look-up found an entry. In a warm run the next one will, too. */
  let wasThere = false;
  const log = new IndexLog(options, () => project.clock.now());
  const onBytes = (bytes: number) => {
    added.bytes += bytes;
  };
  const onStored = (entry: Entry, file: { readonly ino: number; readonly size: number }) => {
    added.bytes += file.size;
    added.entries += 1;
    log.put(entry.key, rowOf(entry, { ino: file.ino, size: file.size, usedAt: entry.createdAt }));
  };

  function look<E extends KeptEntry>(key: string, { now, ttlMs }: GetOptions, decode: Decode<E>): GetResult<E> {
    if (!isKey(key)) return ABSENT;
    const result = readEntry({ dir, key, signingKey, now, ttlMs, likely: wasThere }, decode);
    wasThere = 'entry' in result;
    if ('miss' in result && result.stamp !== undefined) unfit.set(key, result.stamp);
    return result;
  }

  function get(key: string, options: GetOptions): GetResult {
    const result = look(key, options, decodeKept);
    if ('entry' in result) log.used(key);
    return result;
  }

  function storedSince(key: string): boolean {
    const stat = statIfThere(entryPath(dir, key));
    if (stat === undefined || unfit.get(key) === fileStamp(stat)) return false;
    // Reported once: a caller that asks again could not use the entry (its files cannot be restored, say).
    unfit.set(key, fileStamp(stat));
    return true;
  }

  function put(entry: Entry): PutResult {
    if (!isKey(entry.key)) return { stored: false, reason: 'not a key' };
    const problem = access.problem();
    if (problem !== undefined) return { stored: false, reason: problem, isReported: true };
    const holder = encodeHolder(newHolder());
    const rest = encodeSafely(holder, entry, signingKey);
    if (rest === undefined) return { stored: false, reason: 'the result cannot be written as JSON' };
    const write = () => writeFileAtomic(entryPath(dir, entry.key), holder + rest);
    let result = write();
    // A folder is in the entry's place. `get` would have set it aside, but `--refresh` puts without a `get`.
    if ('failed' in result && result.failed.code === 'EISDIR') {
      if (setAside(dir, entry.key, project.clock.now())) result = write();
    }
    if ('failed' in result) return { stored: false, reason: access.report(result.failed), isReported: true };
    const stat = statIfThere(entryPath(dir, entry.key));
    if (stat) onStored(entry, stat);
    return { stored: true };
  }

  const claims = new Claims({
    access,
    clock: project.clock,
    signingKey,
    storedSince,
    onStored,
  });

  return {
    options,
    added,
    get isNew() {
      return access.isNew;
    },
    log,
    ledger: new OutputLedger(project),
    get,
    peek: (key, options) => look(key, options, decodeEntry),
    put,
    claim: (key, request) => (isKey(key) ? claims.claim(key, request) : Promise.resolve({ unavailable: 'not a key' })),
    remove: (key) => {
      log.removed(key);
      if (isKey(key)) removeIfThere(entryPath(dir, key));
    },
    seal: (value) => seal.seal(value),
    blobs: openBlobs({ access, clock: project.clock, onStored: onBytes }),
  };
}
