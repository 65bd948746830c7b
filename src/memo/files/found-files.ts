import type { Stats } from 'node:fs';

/** Files, in the order in which the file system lists them, which is no order to rely on. */
export interface FoundFiles {
  readonly paths: string[];
  /**
   * What a stat says of each: size, mtime, ctime and inode, FIGURES numbers per file. Twenty thousand stat objects that
   * live longer than a moment cost more than the calls that made them.
   */
  readonly figures: number[];
  /** Links that count by what they say: links to nothing (editors leave such locks behind), or all of them. */
  readonly links: { readonly path: string; readonly target: string }[];
}

export const FIGURES = 4;

export function addFile(found: FoundFiles, path: string, stat: Stats): void {
  found.paths.push(path);
  found.figures.push(stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino);
}
