import type { Stats } from 'node:fs';
import { type FileSink, FoundFiles, type FoundLink, STATS_PER_FILE } from '../files/found-files.js';
import { isTrusted, NUMBERS_PER_ROW, pathsOf, type StatTable } from '../files/stat-table.js';

/**
 * Compares the files of a walk with the rows of a table, one by one, and collects only from the first difference on:
 * twenty thousand unchanged files need no memory.
 */
export class KnownFiles implements FileSink {
  readonly links: FoundLink[] = [];
  readonly #known: StatTable;
  #same = 0;
  /** Where the path of the next row begins. */
  #next = 0;
  #found: FoundFiles | undefined;

  constructor(known: StatTable) {
    this.#known = known;
  }

  file(path: string, stat: Stats): void {
    if (this.#found === undefined) {
      if (this.#isNext(path) && isTrusted(this.#known, this.#same, stat)) {
        this.#same += 1;
        this.#next += path.length + 1;
        return;
      }
      this.#found = this.#sameSoFar();
    }
    this.#found.file(path, stat);
  }

  link(path: string, target: string): void {
    this.links.push({ path, target });
  }

  /** Undefined when the files are exactly those of the table, unchanged. */
  differing(): FoundFiles | undefined {
    if (this.#found === undefined && this.#same === this.#known.rows) return undefined;
    return this.#found ?? this.#sameSoFar();
  }

  #isNext(path: string): boolean {
    const { paths } = this.#known;
    return paths.charCodeAt(this.#next + path.length) === 0 && paths.startsWith(path, this.#next);
  }

  #sameSoFar(): FoundFiles {
    const found = new FoundFiles();
    for (const [row, path] of pathsOf(this.#known).slice(0, this.#same).entries()) {
      found.paths.push(path);
      for (let k = 0; k < STATS_PER_FILE; k++) found.stats.push(this.#known.numbers[row * NUMBERS_PER_ROW + k]!);
    }
    return found;
  }
}
