import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Whether `path` is `root` or below it, by its letters. Both absolute. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/**
 * A written path below a folder: `join`, without looking at each character where there is nothing to be put right. Most
 * paths are as plain as that.
 */
export function below(root: string, path: string): string {
  return NOT_PLAIN.test(path) || root.endsWith(sep) ? join(root, path) : `${root}${sep}${path}`;
}

/** Steps that lead nowhere, doubled or foreign separators, and one at the end. */
const NOT_PLAIN = /(?:^|\/)\.{0,2}(?:\/|$)|\\/;

/** The same after following symbolic links; what does not exist yet hangs below the part of the path that does. */
export function isReallyInside(root: string, path: string): boolean {
  return isInside(root, path) && isInside(realPath(root), realPath(path));
}

export function realPath(path: string): string {
  let existing = path;
  for (;;) {
    try {
      return resolve(realpathSync.native(existing), relative(existing, path));
    } catch {
      // Not there (or not readable): its parent decides where it would be.
      const parent = dirname(existing);
      if (parent === existing) return path;
      existing = parent;
    }
  }
}

/** Forward slashes, relative to `root`; `.` for the root itself. */
export function relativePath(root: string, path: string): string {
  const way = relative(root, path).split(sep).join('/');
  return way === '' ? '.' : way;
}
