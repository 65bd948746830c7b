import { isTemporary } from '../../util/atomic-write.js';
import { STATE_DIR } from '../../util/project.js';
import { LEFT_OUT } from '../files/glob-pattern.js';

const OWN_STATE = [`${STATE_DIR}/cache`, `${STATE_DIR}/runs`];
/** A run makes it: whether it is there says nothing about the project. */
const [STATE_ROOT] = STATE_DIR.split('/') as [string];

/** Paths that change for reasons of their own, and what taskflow itself writes. */
export function isLeftOut(path: string): boolean {
  const names = path.split('/');
  if (names.some((name) => LEFT_OUT.includes(name)) || isTemporary(names.at(-1)!)) return true;
  return OWN_STATE.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

/** Whether a name in a listing counts. */
export function countsInListing(folder: string, name: string): boolean {
  if (folder === '.') return name !== STATE_ROOT && !isLeftOut(name);
  return !isLeftOut(`${folder}/${name}`);
}
