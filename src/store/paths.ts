import { join } from 'node:path';
import { isTemporary } from '../util/atomic-write.js';

/** Names in the store's folder. What is called otherwise is not ours and is left alone. */

const KEY = /^[0-9a-f]{64}$/;
const ENTRY = /^([0-9a-f]{64})\.json$/;
/** Held for the moment in which a dead holder's claim is removed: see `removeDeadClaim`. */
const GUARD = /^[0-9a-f]{64}\.claim-(?:[0-9a-f]{12}-\d+|inode\d+)\.guard$/;
const CLAIM = /^([0-9a-f]{64})\.claim$/;
/** How the temporary names of our files begin. */
const OURS = /^(?:[0-9a-f]{64}\.json|index\.json|collect\.json|secret|CACHEDIR\.TAG|\.gitignore)\./;

export const BLOBS = 'blobs';
export const DAMAGED = 'damaged';
export const INDEX = 'index.json';
export const SECRET = 'secret';
export const COLLECT = 'collect.json';
/** What runs have used and put since the index was written; and that part of it that is being folded into the index. */
export const INDEX_LOG = 'index.log';
export const INDEX_LOG_TAKEN = 'index.log.taken';
export const MAINTENANCE = 'maintenance.lock';
/** Files are written here before they are moved into the project or among the blobs: no glob matches them here. */
export const RESTORING = 'restoring';

/** Keys come from file names, archives and command lines too: only a full digest may become part of a path. */
export function isKey(text: string): boolean {
  return KEY.test(text);
}

export function entryPath(dir: string, key: string): string {
  return `${dir}/${key}.json`;
}

export function claimPath(dir: string, key: string): string {
  return `${dir}/${key}.claim`;
}

export function blobPath(dir: string, digest: string): string {
  return join(dir, BLOBS, digest.slice(0, 2), digest);
}

export function keyOfEntryName(name: string): string | undefined {
  return ENTRY.exec(name)?.[1];
}

export function keyOfClaimName(name: string): string | undefined {
  return CLAIM.exec(name)?.[1];
}

export function isGuardName(name: string): boolean {
  return GUARD.test(name);
}

/** Where an import is unpacked and checked before anything of it is used. */
export function stagingName(id: string): string {
  return `import-${id}.tmp`;
}

export function isStagingName(name: string): boolean {
  return /^import-[0-9a-f]+\.tmp$/.test(name);
}

export function isTemporaryName(name: string): boolean {
  return OURS.test(name) && isTemporary(name);
}
