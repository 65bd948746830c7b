import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { claimState, parseHolder, readClaim, removeDeadClaim } from './claim-file.js';
import { eachName } from './folder-names.js';
import { stateOfHolder } from './holder.js';
import type { Pace } from './pace.js';
import { BLOBS, isGuardName, isStagingName, isTemporaryName, keyOfClaimName, RESTORING } from './paths.js';

/** Writing a file takes milliseconds: no process still writes one this old. */
const TEMPORARY_MS = 60 * 60_000;

/** Removes what dead processes left: claims, temporary files, guards. Returns how many. `now`: see `fileClock`. */
export async function removeLeftovers(dir: string, now: number, pace: Pace): Promise<number> {
  let removed = 0;
  pace.begin('looking for leftovers');
  for (const name of eachName(dir)) {
    const path = join(dir, name);
    if (keyOfClaimName(name) !== undefined) removed += removeIfDead(path, now);
    else if (isGuardName(name)) removed += olderThan(path, 60_000, now) && removeIfThere(path) ? 1 : 0;
    else if (isTemporaryName(name)) removed += isAbandoned(path, now) && removeIfThere(path) ? 1 : 0;
    else if (isStagingName(name) && olderThan(path, TEMPORARY_MS, now)) {
      rmSync(path, { recursive: true, force: true });
      removed += 1;
    }
    if (pace.tick()) await pace.rest();
  }
  return removed + (await removeFromSubfolders(dir, now, pace));
}

/** In the folders inside the store. */
async function removeFromSubfolders(dir: string, now: number, pace: Pace): Promise<number> {
  const blobFolders = Array.from(eachName(join(dir, BLOBS)), (prefix) => join(dir, BLOBS, prefix));
  let removed = 0;
  for (const folder of [...blobFolders, join(dir, RESTORING)]) {
    for (const name of eachName(folder)) {
      const path = join(folder, name);
      if (name.endsWith('.tmp') && olderThan(path, TEMPORARY_MS, now) && removeIfThere(path)) removed += 1;
      if (pace.tick()) await pace.rest();
    }
  }
  return removed;
}

function removeIfDead(path: string, now: number): number {
  const claim = readClaim(path);
  if (!('inode' in claim) || claimState(claim, now) !== 'dead') return 0;
  removeDeadClaim(path, claim, now);
  return statIfThere(path) === undefined ? 1 : 0;
}

/** An entry that was being written begins with its holder. */
function isAbandoned(path: string, now: number): boolean {
  if (olderThan(path, TEMPORARY_MS, now)) return true;
  const holder = parseHolder(headOf(path));
  return holder !== undefined && stateOfHolder(holder) === 'dead';
}

function olderThan(path: string, ms: number, now: number): boolean {
  const stat = statIfThere(path);
  return stat !== undefined && now - stat.mtimeMs > ms;
}

function headOf(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(1024);
      return bytes.toString('utf8', 0, readSync(file, bytes));
    } finally {
      closeSync(file);
    }
  } catch {
    // Renamed or removed meanwhile: no leftover.
    return '';
  }
}
