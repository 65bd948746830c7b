import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';

/** Whether `path` is `root` or below it, without looking at the disk. Both are absolute. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The same after following symbolic links. For a path that does not exist yet, the folder above it decides. */
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

/** For people: relative if it is inside of `root`, else unchanged. */
export function displayPath(root: string, path: string): string {
  return isInside(root, path) ? relativePath(root, path) : path;
}
