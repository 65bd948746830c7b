import { constants, copyFileSync, linkSync, renameSync } from 'node:fs';
import { removeIfThere, temporaryName } from './atomic-write.js';

/** Makes a hard link; a copy where the two are on different disks. An existing target stays. May throw. */
export function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code === 'ENOENT') throw error;
    copy(source, target);
  }
}

function copy(source: string, target: string): void {
  const temporary = temporaryName(target);
  try {
    copyFileSync(source, temporary, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    renameSync(temporary, target);
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  }
}
