import { mkdirSync, readlinkSync, realpathSync, renameSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { OutputFile } from '../model/outcome.js';
import type { BlobStore } from '../store/store.js';
import { removeIfThere, temporaryName } from '../util/atomic-write.js';
import { sha256Hex } from '../util/digest.js';
import { isInside } from '../util/inside.js';

/** The type bits that a stat gives a link: the file's digest is then that of what the link says. */
const LINK = 0o120000;
const TYPE = 0o170000;

export function isLink({ mode }: Pick<OutputFile, 'mode'>): boolean {
  return (mode & TYPE) === LINK;
}

/** Links that a phase made are kept as links: `dist/latest` stays one, and so do the programs in `node_modules/.bin`. */
export function keepLink(path: string, target: string, blobs: BlobStore): OutputFile | { readonly failed: string } {
  if (target.startsWith('/')) return { failed: `${path} is a link with an absolute path` };
  const kept = blobs.keepText(target);
  return 'failed' in kept ? kept : { path, digest: kept.digest, mode: LINK | 0o777 };
}

/** The digest of what the link says now. */
export function linkDigest(absolute: string): string {
  return sha256Hex(readlinkSync(absolute));
}

/** Makes the link, if it stays inside of the project seen from where it really stands. */
export function restoreLink(
  { path, digest }: OutputFile,
  root: string,
  blobs: BlobStore,
): { readonly restored: true } | { readonly failed: string } {
  const target = blobs.readText(digest);
  if (target === undefined) return { failed: 'a kept link is missing' };
  const absolute = join(root, path);
  const temporary = temporaryName(absolute);
  try {
    mkdirSync(dirname(absolute), { recursive: true });
    const place = realpathSync(dirname(absolute));
    if (target.startsWith('/') || !isInside(root, resolve(place, target))) {
      return { failed: `${path} is a link that leaves the project` };
    }
    symlinkSync(target, temporary);
    renameSync(temporary, absolute);
    return { restored: true };
  } catch (error) {
    removeIfThere(temporary);
    return { failed: `cannot write ${path} (${(error as NodeJS.ErrnoException).code})` };
  }
}
