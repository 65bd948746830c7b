import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { hmacSha256Stream } from '../util/digest.js';
import { statIfThere } from '../util/stat.js';
import { macLine, placeInIndex, placeInLog, type RowPlace } from './index-lines.js';
import type { LogOptions } from './index-log.js';
import type { KeyTable } from './key-table.js';
import { type Line, linesOf } from './lines.js';
import type { Pace } from './pace.js';
import { INDEX, INDEX_LOG, INDEX_LOG_TAKEN } from './paths.js';
import { isSameText } from './signed-text.js';

/** In the order in which they are opened, so that a row that is folded into the index meanwhile is in one of them. */
const FILES = [INDEX_LOG, INDEX_LOG_TAKEN, INDEX] as const;
/** Positions in FILES, the newest file first. */
const [LOG, TAKEN, IN_INDEX] = [0, 1, 2] as const;
const COMMA = 44;
/** In `file`: there is no row, so the entry has to be read. */
export const NO_ROW = 255;

/**
 * For each entry in the folder: when it was last used, in which order, and where its row is written. 41 bytes an entry;
 * the rows stay on disk.
 */
export class IndexColumns {
  readonly file: Uint8Array;
  readonly offset: Float64Array;
  readonly length: Uint32Array;
  /** Inode of the entry file that the row describes. */
  readonly inode: Float64Array;
  readonly bytes: Float64Array;
  readonly usedAt: Float64Array;
  /** Position of the last use among all uses, from 1 on; 0 where no use is known. */
  readonly turn: Uint32Array;
  turns = 0;
  /** File descriptors, by the numbers in `file`; undefined for a file that does not exist. */
  readonly opened: readonly (number | undefined)[];

  readonly #keys: KeyTable;

  constructor(dir: string, keys: KeyTable) {
    const { size } = keys;
    this.#keys = keys;
    this.file = new Uint8Array(size).fill(NO_ROW);
    this.offset = new Float64Array(size);
    this.length = new Uint32Array(size);
    this.inode = new Float64Array(size);
    this.bytes = new Float64Array(size);
    this.usedAt = new Float64Array(size);
    this.turn = new Uint32Array(size);
    this.opened = FILES.map((name) => openIfThere(join(dir, name)));
  }

  close(): void {
    for (const file of this.opened) if (file !== undefined) closeSync(file);
  }

  async read({ signingKey }: LogOptions, pace: Pace): Promise<void> {
    if (!(await this.#readIndex(signingKey, pace))) {
      this.file.fill(NO_ROW);
      this.turn.fill(0);
    }
    for (const number of [TAKEN, LOG]) {
      for (const line of this.#lines(number)) {
        const place = placeInLog(line, signingKey);
        if (place) this.#note(number, line, place);
        if (pace.tick()) await pace.rest();
      }
    }
  }

  /** False where there is a signing key and the file was written without it. */
  async #readIndex(signingKey: Buffer | string | undefined, pace: Pace): Promise<boolean> {
    const mac = signingKey === undefined ? undefined : hmacSha256Stream(signingKey);
    mac?.update(`${INDEX}\n`);
    let stated = '';
    for (const line of this.#lines(IN_INDEX)) {
      const { buffer, start, end } = line;
      const place = placeInIndex(line);
      if (place) this.#note(IN_INDEX, line, place);
      if (mac && buffer[start] === COMMA) stated = buffer.toString('latin1', start, end);
      else mac?.update(buffer.subarray(start, end + 1));
      if (pace.tick()) await pace.rest();
    }
    return mac === undefined || isSameText(stated, macLine(mac.hex()));
  }

  /** Forgets rows about other files than those that are there: such an entry is ordered by the time of its file. */
  async compareFiles(pathOf: (slot: number) => string, pace: Pace): Promise<void> {
    for (let slot = 0; slot < this.file.length; slot++) {
      if (this.file[slot] === NO_ROW) continue;
      const stat = statIfThere(pathOf(slot));
      if (stat?.ino !== this.inode[slot] || stat?.size !== this.bytes[slot]) {
        this.file[slot] = NO_ROW;
        this.turn[slot] = 0;
      }
      if (pace.tick()) await pace.rest();
    }
  }

  #note(file: number, { start, at }: Line, { key, usedAt, row }: RowPlace): void {
    const slot = this.#keys.find(key);
    if (slot < 0) return;
    this.turns += 1;
    this.turn[slot] = this.turns;
    this.usedAt[slot] = usedAt;
    if (!row) return;
    this.file[slot] = file;
    this.offset[slot] = at + row.from - start;
    this.length[slot] = row.to - row.from;
    this.inode[slot] = row.inode;
    this.bytes[slot] = row.bytes;
  }

  #lines(number: number): Iterable<Line> {
    const file = this.opened[number];
    return file === undefined ? [] : linesOf(file);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    // Nothing was used yet, or since the index was written.
    return undefined;
  }
}
