import {
  closeSync,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type ErrnoError, removeIfThere, temporaryName, writeAll, writeFileAtomic } from '../util/atomic-write.js';
import type { Clock } from '../util/clock.js';
import { sha256Hex, sha256Stream } from '../util/digest.js';
import { linkOrCopy } from '../util/link-or-copy.js';
import { statIfThere } from '../util/stat.js';
import type { FolderAccess } from './folder-access.js';
import { LONGEST_LINK } from './output-path.js';
import { blobPath, isKey, RESTORING } from './paths.js';
import { placeFile } from './place-file.js';
import type { BlobStore } from './store.js';

interface BlobOptions {
  readonly access: FolderAccess;
  readonly clock: Clock;
  readonly onStored: (bytes: number) => void;
}

/** File bodies by their digest: equal files are kept once. */
export function openBlobs({ access, clock, onStored }: BlobOptions): BlobStore {
  const pathOf = (digest: string) => blobPath(access.dir, digest);
  return {
    keep(absolutePath) {
      const problem = access.problem();
      if (problem !== undefined) return { failed: problem };
      try {
        return keepFile(absolutePath, access.dir, { now: clock.now(), onStored });
      } catch (error) {
        const { code, path } = error as NodeJS.ErrnoException;
        if (path === absolutePath) return { failed: `${absolutePath} cannot be read (${code})` };
        return { failed: access.report(error as ErrnoError) };
      }
    },
    adopt(absolutePath, blob) {
      const problem = access.problem();
      if (problem !== undefined) return { failed: problem };
      try {
        adoptFile(absolutePath, blobPath(access.dir, blob.digest), { ...blob, now: clock.now(), onStored });
        return { kept: true };
      } catch (error) {
        return { failed: access.report(error as ErrnoError) };
      }
    },
    keepText(text) {
      const problem = access.problem();
      if (problem !== undefined) return { failed: problem };
      try {
        return { digest: keepBytes(Buffer.from(text), access.dir, { now: clock.now(), onStored }) };
      } catch (error) {
        return { failed: access.report(error as ErrnoError) };
      }
    },
    readText(digest) {
      if (!isKey(digest)) return undefined;
      try {
        if (statSync(pathOf(digest)).size > LONGEST_LINK) return undefined;
        const bytes = readFileSync(pathOf(digest));
        return sha256Hex(bytes) === digest ? bytes.toString('utf8') : undefined;
      } catch {
        // Missing or not readable: the same to the caller.
        return undefined;
      }
    },
    has: (digest) => isKey(digest) && statIfThere(pathOf(digest))?.isFile() === true,
    restore(digest, absolutePath, mode) {
      if (!isKey(digest)) return { failed: 'bad digest' };
      return restoreFile(access.dir, digest, { absolutePath, mode });
    },
  };
}

interface Keeping {
  readonly now: number;
  readonly onStored: (bytes: number) => void;
}

const SMALL = 1024 * 1024;

function keepFile(source: string, dir: string, keeping: Keeping): { digest: string; mode: number } {
  const stat = statSync(source);
  if (stat.isFile() && stat.size <= SMALL) {
    return { digest: keepBytes(readFileSync(source), dir, keeping), mode: stat.mode & 0o7777 };
  }
  mkdirSync(join(dir, RESTORING), { recursive: true, mode: 0o700 });
  const temporary = temporaryName(join(dir, RESTORING, 'blob'));
  try {
    // Digested while it is copied: it is read once, and what is kept has this digest even if the file just changed.
    const copy = copyAndDigest(source, { path: temporary, mode: 0o600 });
    const blob = blobPath(dir, copy.digest);
    if (isKept(blob, copy.size, keeping.now)) return copy;
    mkdirSync(dirname(blob), { recursive: true, mode: 0o700 });
    renameSync(temporary, blob);
    keeping.onStored(copy.size);
    return copy;
  } finally {
    removeIfThere(temporary);
  }
}

function keepBytes(bytes: Buffer, dir: string, { now, onStored }: Keeping): string {
  const digest = sha256Hex(bytes);
  if (isKept(blobPath(dir, digest), bytes.length, now)) return digest;
  mkdirSync(dirname(blobPath(dir, digest)), { recursive: true, mode: 0o700 });
  const result = writeFileAtomic(blobPath(dir, digest), bytes);
  if ('failed' in result) throw result.failed;
  onStored(bytes.length);
  return digest;
}

function adoptFile(source: string, blob: string, { bytes, now, onStored }: Keeping & { readonly bytes: number }): void {
  if (isKept(blob, bytes, now)) return;
  mkdirSync(dirname(blob), { recursive: true, mode: 0o700 });
  // A blob of another size is damaged.
  removeIfThere(blob);
  linkOrCopy(source, blob);
  utimesSync(blob, now / 1_000, now / 1_000);
  onStored(bytes);
}

/** Collection spares young blobs: until the entry is put, only its age protects this one. */
function isKept(path: string, size: number, now: number): boolean {
  if (statIfThere(path)?.size !== size) return false;
  utimesSync(path, now / 1_000, now / 1_000);
  return true;
}

/** The content has another digest than its name says: the blob is removed, and the entry is a miss. */
class DamagedBlob extends Error {}

function restoreFile(
  dir: string,
  digest: string,
  target: { absolutePath: string; mode: number },
): { restored: true } | { failed: string } {
  const blob = blobPath(dir, digest);
  try {
    placeFile(dir, target.absolutePath, (temporary) => {
      if (copyAndDigest(blob, { path: temporary, mode: target.mode }).digest !== digest) throw new DamagedBlob();
    });
    return { restored: true };
  } catch (error) {
    if (error instanceof DamagedBlob) {
      removeIfThere(blob);
      return { failed: 'a kept file is damaged' };
    }
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && path === blob) return { failed: 'a kept file is missing' };
    return { failed: `cannot write ${target.absolutePath} (${code})` };
  }
}

const CHUNK = 256 * 1024;

/** Copies in pieces, so that size does not matter. */
function copyAndDigest(
  source: string,
  copy: { path: string; mode: number },
): { digest: string; size: number; mode: number } {
  const from = openSync(source, 'r');
  let to: number | undefined;
  try {
    const stat = fstatSync(from);
    if (!stat.isFile()) throw Object.assign(new Error('no regular file'), { code: 'EISDIR', path: source });
    to = openSync(copy.path, 'wx', 0o600);
    const hash = sha256Stream();
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(1, stat.size + 1)));
    let size = 0;
    for (let read = readSync(from, chunk); read > 0; read = readSync(from, chunk)) {
      const piece = chunk.subarray(0, read);
      hash.update(piece);
      writeAll(to, piece);
      size += read;
    }
    fchmodSync(to, copy.mode & 0o7777);
    return { digest: hash.hex(), size, mode: stat.mode & 0o7777 };
  } finally {
    closeSync(from);
    if (to !== undefined) closeSync(to);
  }
}
