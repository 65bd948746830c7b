import { join } from 'node:path';

/** Names in the store's folder. What is called otherwise is not ours and is left alone. */

const KEY = /^[0-9a-f]{64}$/;
const ENTRY = /^([0-9a-f]{64})\.json$/;
const CLAIM = /^([0-9a-f]{64})\.claim$/;
/** `<key>.json`, a claim or another file of ours that was being written: see `temporaryName`. */
const TEMPORARY =
  /^(?:[0-9a-f]{64}(?:\.json)?|index\.json|collect\.json|ledger\.json|stat-table|secret)\.\d+-\d+-[0-9a-z]+\.tmp$/;

export const BLOBS = 'blobs';
export const DAMAGED = 'damaged';
export const INDEX = 'index.json';
export const SECRET = 'secret';
export const LOCK = 'maintenance.lock';

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

export function isTemporaryName(name: string): boolean {
  return TEMPORARY.test(name);
}
