import { digestFile } from '../../util/digest-file.js';
import { type FileStamp, haveSameStamp, leftAloneBefore } from '../../util/file-stamp.js';
import type { Project } from '../../util/project.js';
import { STATS_PER_FILE } from './found-files.js';
import { isTrusted, NUMBERS_PER_ROW, pathsOf, readTable, type StatTable, tableName, writeTable } from './stat-table.js';

const NAME = tableName('known paths');
/** Beyond it, only what this process has looked at stays. */
const MOST_ROWS = 50_000;

/** A digest, and when it was read. */
interface Read {
  readonly digest: string;
  readonly readAt: number;
}

type Row = FileStamp & Read;

/**
 * Digests of single files and folders of the project, by what a stat says: what phases declare with `file:`, what they
 * were observed to read, what they write. Kept for later processes in one table, and trusted like the rows of a glob
 * (see `leftAloneBefore`).
 */
export class KnownStats {
  #table: StatTable | undefined;
  #rows: Map<string, number> | undefined;
  /** All digests in one text: a thousand small conversions cost as much as the stats. */
  #hex = '';
  readonly #new = new Map<string, Row>();
  readonly #used = new Set<string>();

  constructor(private readonly project: Pick<Project, 'root' | 'home' | 'env' | 'clock'>) {}

  find(name: string, stat: FileStamp): string | undefined {
    const known = this.#new.get(name);
    if (known) return haveSameStamp(known, stat) ? known.digest : undefined;
    const row = this.#load().get(name);
    if (row === undefined || !isTrusted(this.#table!, row, stat)) return undefined;
    if (this.#rows!.size > MOST_ROWS / 2) this.#used.add(name);
    return this.#hex.slice(row * 64, row * 64 + 64);
  }

  /** `stat` was made before the content was read. */
  add(name: string, { size, mtimeMs, ctimeMs, ino }: FileStamp, { digest, readAt }: Read): void {
    if (leftAloneBefore(mtimeMs, ctimeMs, readAt)) this.#new.set(name, { size, mtimeMs, ctimeMs, ino, digest, readAt });
  }

  /** The digest of a file's content, from its bytes where it is not known. May throw. */
  async digest(name: string, stat: FileStamp): Promise<string> {
    const known = this.find(name, stat);
    if (known !== undefined) return known;
    const readAt = this.project.clock.now();
    const digest = await digestFile(`${this.project.root}/${name}`, stat.size);
    this.add(name, stat, { digest, readAt });
    return digest;
  }

  /** Best effort. A process that found nothing new writes nothing. */
  flush(): void {
    if (this.#new.size === 0) return;
    const rows = new Map(this.#new);
    const known = this.#load();
    const isFull = known.size + rows.size > MOST_ROWS;
    for (const [name, at] of known) {
      if (!rows.has(name) && (!isFull || this.#used.has(name))) rows.set(name, this.#row(at));
    }
    this.#write(rows);
    this.#new.clear();
    this.#rows = undefined;
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
    const [size, mtimeMs, ctimeMs, ino, readAt] = this.#table!.numbers.subarray(at * NUMBERS_PER_ROW);
    const digest = this.#hex.slice(at * 64, at * 64 + 64);
    return { size: size!, mtimeMs: mtimeMs!, ctimeMs: ctimeMs!, ino: ino!, digest, readAt: readAt! };
  }

  #write(rows: ReadonlyMap<string, Row>): void {
    const numbers = new Float64Array(rows.size * NUMBERS_PER_ROW);
    const digests = Buffer.allocUnsafe(rows.size * 32);
    let at = 0;
    for (const { size, mtimeMs, ctimeMs, ino, digest, readAt } of rows.values()) {
      numbers.set([size, mtimeMs, ctimeMs, ino], at * NUMBERS_PER_ROW);
      numbers[at * NUMBERS_PER_ROW + STATS_PER_FILE] = readAt;
      digests.write(digest, at * 32, 'hex');
      at += 1;
    }
    const paths = [...rows.keys()].map((name) => `${name}\0`).join('');
    writeTable(this.project, NAME, { rows: rows.size, paths, numbers, digests, value: '' });
  }
}
