import { isLeftOut } from '../../observe/left-out.js';
import { isTemporary } from '../../util/atomic-write.js';
import { STATE_DIR } from '../../util/project.js';

/** Runs make this folder, so it says nothing about the project. */
const [STATE_ROOT] = STATE_DIR.split('/') as [string];

/** Whether a name in a listing counts. */
export function countsInListing(folder: string, name: string): boolean {
  if (isTemporary(name) || (folder === '.' && name === STATE_ROOT)) return false;
  return !isLeftOut(folder === '.' ? name : `${folder}/${name}`);
}
