import type { FileStamp } from '../../util/file-stamp.js';
import type { ProjectPlace } from '../../util/user-cache.js';
import { STATS_PER_FILE } from '../files/found-files.js';
import {
  isSettled,
  isTrusted,
  NUMBERS_PER_ROW,
  pathsOf,
  readTable,
  type StatTable,
  tableName,
  writeTable,
} from '../fingerprint/stat-table.js';

const NAME = tableName('observed paths');
/** Beyond it, only the rows that this process has used stay. */
const MOST_ROWS = 50_000;

interface Row {
  readonly stamp: FileStamp;
  readonly readAt: number;
  readonly digest: string;
}

/**
 * Digests of observed files and folders, by their stat: one table for the whole project, since phases look at the same
 * files. Its rows are trusted as those of globs are: see `leftAloneBefore`.
 */
export class KnownStats {
  #table: StatTable | undefined;
  #rows: Map<string, number> | undefined;
  /** All digests in one text: a thousand small conversions cost as much as the stats. */
  #hex = '';
  readonly #new = new Map<string, Row>();
  readonly #used = new Set<string>();

  constructor(private readonly project: ProjectPlace) {}

  find(name: string, stat: FileStamp): string | undefined {
    const row = this.#load().get(name);
    if (row === undefined || !isTrusted(this.#table!, row, stat)) return undefined;
    if (this.#rows!.size > MOST_ROWS / 2) this.#used.add(name);
    return this.#hex.slice(row * 64, row * 64 + 64);
  }

  add(name: string, row: Row): void {
    this.#new.set(name, row);
  }

  /** Best effort. A process that found nothing new writes nothing. */
  flush(): void {
    const fresh = [...this.#new].filter(([, row]) => isSettled(numbersOf(row), 0));
    this.#new.clear();
    if (fresh.length === 0) return;
    const rows = new Map(fresh);
    const known = this.#load();
    const isFull = known.size + rows.size > MOST_ROWS;
    for (const [name, at] of known) {
      if (!rows.has(name) && (!isFull || this.#used.has(name))) rows.set(name, this.#row(at));
    }
    this.#write(rows);
  }

  #load(): ReadonlyMap<string, number> {
    if (this.#rows) return this.#rows;
    this.#table = readTable(this.project, NAME);
    this.#hex = this.#table?.digests.toString('hex') ?? '';
    const rows = new Map<string, number>();
    for (const name of this.#table ? pathsOf(this.#table) : []) rows.set(name, rows.size);
    this.#rows = rows;
    return rows;
  }

  #row(at: number): Row {
    const { numbers } = this.#table!;
    const [size, mtimeMs, ctimeMs, ino, readAt] = numbers.subarray(at * NUMBERS_PER_ROW);
    return {
      stamp: { size: size!, mtimeMs: mtimeMs!, ctimeMs: ctimeMs!, ino: ino! },
      readAt: readAt!,
      digest: this.#hex.slice(at * 64, at * 64 + 64),
    };
  }

  #write(rows: ReadonlyMap<string, Row>): void {
    const numbers = new Float64Array(rows.size * NUMBERS_PER_ROW);
    const digests = Buffer.allocUnsafe(rows.size * 32);
    let at = 0;
    for (const row of rows.values()) {
      numbers.set(numbersOf(row), at * NUMBERS_PER_ROW);
      digests.write(row.digest, at * 32, 'hex');
      at += 1;
    }
    const paths = [...rows.keys()].map((name) => `${name}\0`).join('');
    writeTable(this.project, NAME, { rows: rows.size, paths, numbers, digests, value: '' });
    this.#rows = undefined;
  }
}

function numbersOf({ stamp: { size, mtimeMs, ctimeMs, ino }, readAt }: Row): Float64Array {
  const numbers = new Float64Array(STATS_PER_FILE + 1);
  numbers.set([size, mtimeMs, ctimeMs, ino, readAt]);
  return numbers;
}
