import type { Stats } from 'node:fs';

/** Told of each file that a walk finds, in the order in which the file system lists them, which is no order to rely on. */
export interface FileSink {
  file(path: string, stat: Stats): void;
  /** Links that count by what they say: links to nothing (editors leave such locks behind), or all of them. */
  link(path: string, target: string): void;
}

export interface FoundLink {
  readonly path: string;
  readonly target: string;
}

export const FIGURES = 4;

/** All that was found. */
export class FoundFiles implements FileSink {
  readonly paths: string[] = [];
  /**
   * What a stat says of each: size, mtime, ctime and inode, FIGURES numbers per file. Twenty thousand stat objects that
   * live longer than a moment cost more than the calls that made them.
   */
  readonly figures: number[] = [];
  readonly links: FoundLink[] = [];

  file(path: string, stat: Stats): void {
    this.paths.push(path);
    this.figures.push(stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino);
  }

  link(path: string, target: string): void {
    this.links.push({ path, target });
  }
}
