import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere, writeAll } from '../util/atomic-write.js';
import { type IndexRow, isRow } from './index-row.js';
import { INDEX_LOG, INDEX_LOG_TAKEN, isKey } from './paths.js';
import { hasMac, withMac } from './signed-text.js';

/** A use of an entry, or a put, which brings its row. */
type LogEvent = string | readonly [key: string, row: IndexRow];

/** So many are written at once, so that a batch of a hundred thousand rows does not collect them all. */
const MOST_PENDING = 4_096;

/** A log beyond this is folded into the index even by a run that put nothing. */
export const LARGE_LOG = 4 * 1024 ** 2;

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
  /** By key; without a row where it was only used. */
  readonly #pending = new Map<string, IndexRow | undefined>();
  #bytes = 0;

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

  /** Of the file, after the last write of this process. */
  get bytes(): number {
    return this.#bytes;
  }

  flush(): void {
    if (this.#pending.size === 0) return;
    const events = Array.from(this.#pending, ([key, row]): LogEvent => (row === undefined ? key : [key, row]));
    this.#pending.clear();
    this.#bytes = appendEvents(this.#options, events, this.#now());
  }

  #add(key: string, row: IndexRow | undefined): void {
    this.#pending.set(key, row);
    if (this.#pending.size >= MOST_PENDING) this.flush();
  }
}

/** Best effort: a use that is not logged is forgotten, and an entry without a row is read when it is needed. */
export function appendEvents({ dir, signingKey }: LogOptions, events: readonly LogEvent[], at: number): number {
  try {
    const file = openSync(join(dir, INDEX_LOG), 'a', 0o600);
    try {
      // The line end comes first: what a process that died has left of its line does not spoil this one.
      writeAll(file, `\n${withMac(INDEX_LOG, JSON.stringify({ at, events }), signingKey)}`);
      return fstatSync(file).size;
    } finally {
      closeSync(file);
    }
  } catch {
    // No folder yet, or it cannot be written, which a put says.
    return 0;
  }
}

/** Rows in the order of their last use, the oldest first. A number is an entry that was used and has no row. */
export type KnownRows = Map<string, IndexRow | number>;

/** Plays what the log says after what is known already. */
export function replayLog({ dir, signingKey }: LogOptions, known: KnownRows): void {
  for (const name of [INDEX_LOG_TAKEN, INDEX_LOG]) {
    for (const line of readText(join(dir, name)).split('\n')) {
      if (line !== '' && hasMac(INDEX_LOG, line, signingKey)) replayLine(line, known);
    }
  }
}

function replayLine(line: string, known: KnownRows): void {
  const { at, events } = parseLine(line);
  if (!Number.isFinite(at) || !Array.isArray(events)) return;
  for (const event of events as unknown[]) {
    const [key, row] = Array.isArray(event) ? event : [event, undefined];
    if (typeof key !== 'string' || !isKey(key) || (row !== undefined && !isRow(row))) continue;
    const before: IndexRow | number | undefined = row ?? known.get(key);
    known.delete(key);
    known.set(key, typeof before === 'object' ? { ...before, usedAt: at as number } : (at as number));
  }
}

function parseLine(line: string): { readonly at?: unknown; readonly events?: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // Cut short.
    return {};
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Nothing was used since the index was written.
    return '';
  }
}

/** Removes what has been folded into the index. */
export function dropTakenLog(dir: string): void {
  removeIfThere(join(dir, INDEX_LOG_TAKEN));
}
