import { delimiter, join } from 'node:path';
import { statIfThere } from '../util/stat.js';

/** Where a program would be found; undefined if nowhere. Looks, starts nothing. */
export function findOnPath(program: string, path: string | undefined): string | undefined {
  for (const folder of (path ?? '').split(delimiter)) {
    if (folder === '') continue;
    const candidate = join(folder, program);
    // A folder that may not be entered, or is none, has nothing for us: a shell passes over it as well.
    const stat = statIfThere(candidate);
    if (stat?.isFile() && (stat.mode & 0o111) !== 0) return candidate;
  }
  return undefined;
}
