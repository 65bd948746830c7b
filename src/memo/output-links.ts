import { readlinkSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { OutputFile } from '../model/outcome.js';
import { isSafeLink, LINK_MODE } from '../store/output-path.js';
import { placeFile } from '../store/place-file.js';
import type { BlobStore } from '../store/store.js';
import { sha256Hex } from '../util/digest.js';

/** Links that a phase made are kept as links: `dist/latest`, the programs in `node_modules/.bin`. */
export function keepLink(path: string, target: string, blobs: BlobStore): OutputFile | { readonly failed: string } {
  if (target.startsWith('/')) return { failed: `${path} is a link with an absolute path` };
  if (!isSafeLink(path, target))
    return { failed: `${path} is a link that leaves the project, or leads to .git or .pi` };
  const kept = blobs.keepText(target);
  return 'failed' in kept ? kept : { path, digest: kept.digest, mode: LINK_MODE };
}

/** The digest of the link's present target. */
export function linkDigest(absolute: string): string {
  return sha256Hex(readlinkSync(absolute));
}

/** Makes the link, if it stays inside the project from where it really is. */
export function restoreLink(
  { path, digest }: OutputFile,
  { root, storeDir, blobs }: { readonly root: string; readonly storeDir: string; readonly blobs: BlobStore },
): { readonly restored: true } | { readonly failed: string } {
  const target = blobs.readText(digest);
  if (target === undefined) return { failed: 'a kept link is missing' };
  const absolute = join(root, path);
  try {
    placeFile(storeDir, absolute, (temporary) => {
      const place = relative(root, join(realpathSync(dirname(absolute)), 'link'));
      if (!isSafeLink(path, target) || !isSafeLink(place, target)) throw new UnsafeLink();
      symlinkSync(target, temporary);
    });
    return { restored: true };
  } catch (error) {
    if (error instanceof UnsafeLink) return { failed: `${path} is a link that leaves the project` };
    return { failed: `cannot write ${path} (${(error as NodeJS.ErrnoException).code})` };
  }
}

class UnsafeLink extends Error {}
