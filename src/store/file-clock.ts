import { statSync, writeFileSync } from 'node:fs';
import { removeIfThere, temporaryName } from '../util/atomic-write.js';
import { COLLECT } from './paths.js';

/**
 * The time by which the file system stamps files. The age of files is measured by it: a process whose own clock is
 * wrong must not take the files of others for leftovers. Undefined where nothing can be written.
 */
export function fileClock(dir: string): number | undefined {
  const probe = temporaryName(`${dir}/${COLLECT}`);
  try {
    writeFileSync(probe, '', { mode: 0o600, flag: 'wx' });
    return statSync(probe).mtimeMs;
  } catch {
    // Nothing can be removed here either.
    return undefined;
  } finally {
    removeIfThere(probe);
  }
}
