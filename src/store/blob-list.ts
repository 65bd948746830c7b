import { join } from 'node:path';
import { removeIfThere } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { listFolder } from './index-file.js';
import { BLOBS, isKey } from './paths.js';

export interface BlobInfo {
  readonly path: string;
  readonly bytes: number;
  readonly mtimeMs: number;
}

/** A blob may be older than the entry that is about to name it: only one this old, and named by none, is an orphan. */
const ORPHAN_AFTER_MS = 10 * 60_000;

export function listBlobs(dir: string): Map<string, BlobInfo> {
  const blobs = new Map<string, BlobInfo>();
  for (const prefix of listFolder(join(dir, BLOBS))) {
    if (!/^[0-9a-f]{2}$/.test(prefix)) continue;
    for (const name of listFolder(join(dir, BLOBS, prefix))) {
      const path = join(dir, BLOBS, prefix, name);
      const stat = isKey(name) ? statIfThere(path) : undefined;
      if (stat?.isFile()) blobs.set(name, { path, bytes: stat.size, mtimeMs: stat.mtimeMs });
    }
  }
  return blobs;
}

/**
 * Removes blobs that no entry names. One that lost its entry just now goes at once; any other may be about to get one,
 * so it must be older. A phase that keeps the same content meanwhile touches the blob and so saves it; if it comes too
 * late, its entry is a miss, never wrong.
 */
export function removeOrphans(
  blobs: ReadonlyMap<string, BlobInfo>,
  names: { readonly left: (digest: string) => boolean; readonly dropped: (digest: string) => boolean },
  now: number,
): { removed: number; bytes: number } {
  let removed = 0;
  let bytes = 0;
  for (const [digest, blob] of blobs) {
    if (names.left(digest)) continue;
    if (!names.dropped(digest) && now - blob.mtimeMs < ORPHAN_AFTER_MS) continue;
    if (statIfThere(blob.path)?.mtimeMs !== blob.mtimeMs || !removeIfThere(blob.path)) continue;
    removed += 1;
    bytes += blob.bytes;
  }
  return { removed, bytes };
}
