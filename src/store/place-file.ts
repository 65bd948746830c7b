import { mkdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { removeIfThere, temporaryName } from '../util/atomic-write.js';
import { RESTORING } from './paths.js';

/**
 * Makes a file in the store's own folder and then renames it into the project. A process that is killed in between
 * leaves nothing that a glob of the project could match. If the store is on another disk, the file is made beside its
 * target.
 */
export function placeFile(storeDir: string, target: string, make: (temporary: string) => void): void {
  mkdirSync(dirname(target), { recursive: true });
  const staged = stagedName(storeDir, target);
  if (staged === undefined || !tryToPlace(staged, target, make)) placeFrom(temporaryName(target), target, make);
}

function stagedName(storeDir: string, target: string): string | undefined {
  try {
    mkdirSync(join(storeDir, RESTORING), { recursive: true, mode: 0o700 });
    return temporaryName(join(storeDir, RESTORING, basename(target).slice(0, 40)));
  } catch {
    // The store is read-only.
    return undefined;
  }
}

/** False when the two are on different disks. */
function tryToPlace(temporary: string, target: string, make: (temporary: string) => void): boolean {
  try {
    placeFrom(temporary, target, make);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EXDEV' || code === 'EROFS') return false;
    throw error;
  }
}

function placeFrom(temporary: string, target: string, make: (temporary: string) => void): void {
  try {
    make(temporary);
    renameSync(temporary, target);
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  }
}
