import {
  closeSync,
  constants,
  fdatasyncSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type ErrnoError, removeIfThere, temporaryName } from '../../util/atomic-write.js';
import { parsedJson } from '../../util/if-there.js';
import { whyUnwritableAt } from '../../util/why-unwritable.js';
import { type EffectLine, EffectStates } from './lines.js';

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW = 0 } = constants;
/** Beyond this, what is settled is left behind in a new file. */
const LARGE = 256 * 1024;
const FULL = { code: 'ENOSPC' };

/**
 * The ledger of one flow: `NAME.1.jsonl`, to which every process only appends. No lock: all processes read the lines in
 * the same order, and that order decides. A long file is sealed, and what is still held moves to `NAME.2.jsonl`; if a
 * process dies on the way, the next one completes the move.
 */
export class LedgerFile {
  #generation = 0;
  #offset = 0;
  #states = new EffectStates();

  constructor(
    private readonly folder: string,
    private readonly name: string,
  ) {}

  /** The current states. Throws what the file system throws: an unreadable ledger must not pass for an empty one. */
  read(): EffectStates {
    for (;;) {
      const newest = this.#newest();
      if (newest !== this.#generation) {
        this.#generation = newest;
        this.#offset = 0;
        this.#states = new EffectStates();
      }
      if (newest === 0 || !this.#readOn()) return this.#states;
      if (!this.#states.sealed) return this.#states;
      this.#carryOn();
    }
  }

  /** Why the line could not be written and synced; undefined once it is on the disk, in a file that counts. */
  append(line: EffectLine): string | undefined {
    for (;;) {
      const newest = this.#newest();
      const path = this.#path(Math.max(1, newest));
      try {
        if (!this.#appendTo(path, line, newest === 0)) continue;
        this.read();
      } catch (error) {
        return whyUnwritableAt(path, error);
      }
      // It was sealed meanwhile: perhaps before our line, which the next file then does not have.
      if (this.#generation === Math.max(1, newest)) return undefined;
    }
  }

  /** Leaves behind what is settled, once there is much of it. */
  tidy(): void {
    const states = this.read();
    if (this.#offset < LARGE || states.size * 500 > this.#offset / 2) return;
    try {
      this.#appendTo(this.#path(this.#generation), { type: 'sealed' }, false);
      this.read();
    } catch {
      // A full disk or a read-only folder: the long file stays in use.
    }
  }

  /** False when the file is gone: there is a newer one. */
  #appendTo(path: string, line: EffectLine, isNew: boolean): boolean {
    // A line that a crash cut short is ended by the first byte of the next one.
    const bytes = Buffer.from(`\n${JSON.stringify(line)}\n`);
    if (isNew) mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    let file: number;
    try {
      file = openSync(path, O_WRONLY | O_APPEND | O_NOFOLLOW | (isNew ? O_CREAT : 0), 0o600);
    } catch (error) {
      if (!isNew && (error as ErrnoError).code === 'ENOENT') return false;
      throw error;
    }
    try {
      // A line must be written in one piece: other processes append too.
      if (writeSync(file, bytes) !== bytes.length) throw Object.assign(new Error('the disk is full'), FULL);
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
    if (isNew) for (const folder of [this.folder, dirname(this.folder)]) syncFolder(folder);
    return true;
  }

  #newest(): number {
    let names: string[];
    try {
      names = readdirSync(this.folder);
    } catch (error) {
      if ((error as ErrnoError).code === 'ENOENT') return 0;
      throw error;
    }
    let newest = 0;
    for (const name of names) {
      if (!name.startsWith(`${this.name}.`) || !name.endsWith('.jsonl')) continue;
      newest = Math.max(newest, Number(name.slice(this.name.length + 1, -'.jsonl'.length)) || 0);
    }
    return newest;
  }

  /** What was appended since. False when the file is gone: there is a newer one. */
  #readOn(): boolean {
    const path = this.#path(this.#generation);
    let file: number;
    try {
      file = openSync(path, 'r');
    } catch (error) {
      if ((error as ErrnoError).code !== 'ENOENT') throw error;
      this.#generation = 0;
      return this.#newest() > 0;
    }
    try {
      const text = textFrom(file, this.#offset);
      const end = text.lastIndexOf(10) + 1;
      this.#offset += end;
      for (const line of text.toString('utf8', 0, end).split('\n')) this.#apply(line);
      return true;
    } finally {
      closeSync(file);
    }
  }

  #apply(text: string): void {
    const line = parsedJson(text) as EffectLine | undefined;
    // Cut short by a crash or a full disk: what it would have announced was never begun.
    if (line !== undefined) this.#states.apply(line);
  }

  /** Every process that does this writes the same: the states up to the seal. */
  #carryOn(): void {
    const next = this.#path(this.#generation + 1);
    const temporary = temporaryName(next);
    const lines = [...this.#states.all()].flatMap(({ state, ...line }) => [
      { ...line, over: undefined },
      ...(state === 'done' ? [{ type: 'done', id: line.id }] : []),
    ]);
    try {
      writeFileSync(temporary, lines.map((line) => `\n${JSON.stringify(line)}\n`).join(''), {
        mode: 0o600,
        flush: true,
      });
      linkSync(temporary, next);
      syncFolder(this.folder);
    } catch (error) {
      if ((error as ErrnoError).code !== 'EEXIST') throw error;
    } finally {
      removeIfThere(temporary);
    }
    removeIfThere(this.#path(this.#generation));
  }

  #path(generation: number): string {
    return join(this.folder, `${this.name}.${generation}.jsonl`);
  }
}

function textFrom(file: number, offset: number): Buffer {
  const chunks: Buffer[] = [];
  for (let at = offset; ; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const read = readSync(file, chunk, 0, chunk.length, at);
    if (read === 0) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, read));
    at += read;
  }
}

/** A new name is on the disk only when its folder is. */
function syncFolder(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
