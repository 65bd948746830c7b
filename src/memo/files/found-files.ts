import type { Stats } from 'node:fs';

/** Receives each file that a walk finds, in no order to rely on: the file system lists them as it likes. */
export interface FileSink {
  file(path: string, stat: Stats): void;
  /** Links that count by their target text: links to nothing (lock files of editors), or all of them. */
  link(path: string, target: string): void;
}

export interface FoundLink {
  readonly path: string;
  readonly target: string;
}

export const STATS_PER_FILE = 4;

/** Keeps all files. */
export class FoundFiles implements FileSink {
  readonly paths: string[] = [];
  /**
   * Size, mtime, ctime and inode of each file: STATS_PER_FILE numbers. Keeping twenty thousand stat objects costs more
   * than the calls that made them.
   */
  readonly stats: number[] = [];
  readonly links: FoundLink[] = [];

  file(path: string, stat: Stats): void {
    this.paths.push(path);
    this.stats.push(stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino);
  }

  link(path: string, target: string): void {
    this.links.push({ path, target });
  }
}
