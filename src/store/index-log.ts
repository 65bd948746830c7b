import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { writeAll } from '../util/atomic-write.js';
import { statIfThere } from '../util/stat.js';
import { logLine, restOfRow } from './index-lines.js';
import type { IndexRow } from './index-row.js';
import { INDEX, INDEX_LOG } from './paths.js';

/** Flushed at this number, so that a batch of a hundred thousand rows does not hold them all in memory. */
const MOST_PENDING = 4_096;

const LARGE_LOG = 4 * 1024 ** 2;

/** Even a run that put nothing folds such a log into the index. */
export function isLogLong(dir: string): boolean {
  const log = statIfThere(join(dir, INDEX_LOG))?.size ?? 0;
  return log > LARGE_LOG && log > (statIfThere(join(dir, INDEX))?.size ?? 0) / 2;
}

export interface LogOptions {
  readonly dir: string;
  readonly signingKey?: Buffer | string;
}

/**
 * What one run has used and put, in the order of the last use of each. It is appended to `index.log` in one write when
 * the run ends, without a lock and whatever the size of the store.
 */
export class IndexLog {
  readonly #options: LogOptions;
  readonly #now: () => number;
  /** By key; undefined where the entry was only used. */
  readonly #pending = new Map<string, IndexRow | undefined>();

  constructor(options: LogOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  used(key: string): void {
    const row = this.#pending.get(key);
    this.#pending.delete(key);
    this.#add(key, row);
  }

  put(key: string, row: IndexRow): void {
    this.#pending.delete(key);
    this.#add(key, row);
  }

  removed(key: string): void {
    this.#pending.delete(key);
  }

  flush(): void {
    if (this.#pending.size === 0) return;
    const usedAt = this.#now();
    const lines = Array.from(this.#pending, ([key, row]) => {
      return logLine({ key, usedAt, rest: row ? restOfRow(row) : '' }, this.#options.signingKey);
    });
    this.#pending.clear();
    appendLines(this.#options.dir, lines);
  }

  #add(key: string, row: IndexRow | undefined): void {
    this.#pending.set(key, row);
    if (this.#pending.size >= MOST_PENDING) this.flush();
  }
}

/** Best effort: a use that is not logged is forgotten, and an entry without a row is read when it is needed. */
export function appendLines(dir: string, lines: readonly string[]): void {
  try {
    const file = openSync(join(dir, INDEX_LOG), 'a', 0o600);
    try {
      // A line end comes first, so that half a line of a process that died does not spoil these.
      writeAll(file, `\n${lines.join('\n')}\n`);
    } finally {
      closeSync(file);
    }
  } catch {
    // No folder yet, or it cannot be written, which a put reports.
  }
}
