import type { Kind } from '../../model/kind.js';
import type { Output } from '../../model/outcome.js';
import { lstatIfThere } from '../../util/stat.js';
import { isSame, type KeptRow, type KeptRows, type Numbers, RowsWriter, sparse } from './kept-rows.js';
import type { Seen } from './seen.js';

/** A phase, and what decides its result. */
export interface SheetRecord {
  readonly id: string;
  readonly kind: Kind;
  readonly row: KeptRow;
  readonly ttlMs?: number;
  /** Files that decide the result, relative to the project root. */
  readonly inputs: readonly Seen[];
  /** Other fingerprints that decide it, with the canonical text of each value. */
  readonly world?: readonly (readonly [entry: string, value: string])[];
}

/** Beside the columns of the rows: see there. */
interface RecordColumns {
  readonly id: readonly string[];
  readonly kind: readonly Kind[];
  readonly ttlMs?: readonly (number | null)[];
  readonly world?: readonly (NonNullable<SheetRecord['world']> | null)[];
  /** Of all inputs, one after the other; so are the numbers. */
  readonly path: readonly string[];
  /** Those that they are in. */
  readonly folders: readonly string[];
  /** In one text: they are of use only where figures are not. */
  readonly digests: string;
}

interface RecordNumbers {
  /** Which input is the first one of each record, and how many there are. */
  readonly inputs: Numbers;
  readonly fileSize: Numbers;
  readonly fileCtimeMs: Numbers;
  /** Left out if each is the same as its ctime. */
  readonly fileMtimeMs?: Numbers;
  /** 0, which no file has, where there are no figures. */
  readonly fileIno: Numbers;
}

type KeptRecords = KeptRows<RecordColumns & RecordNumbers>;

/** Stands for a file that was not there. */
const NO_DIGEST = '';
const NO_FIGURES: NonNullable<Seen['figures']> = [0, 0, 0, 0];

/** Records on their way into a sheet: new ones, and such as stand in another one. */
export class RecordsWriter {
  readonly #rows = new RowsWriter();
  readonly #id: string[] = [];
  readonly #kind: Kind[] = [];
  readonly #ttlMs: (number | undefined)[] = [];
  readonly #world: (SheetRecord['world'] | undefined)[] = [];
  readonly #path: string[] = [];
  readonly #folders = new Set<string>();
  readonly #digests: string[] = [];
  readonly #numbers = {
    inputs: [0],
    fileSize: [] as number[],
    fileCtimeMs: [] as number[],
    fileMtimeMs: [] as number[],
    fileIno: [] as number[],
  } satisfies RecordNumbers;

  add({ id, kind, row, ttlMs, inputs, world }: SheetRecord): void {
    this.#rows.add(row);
    this.#describe(id, kind, ttlMs, world);
    this.#addInputs(inputs);
  }

  /** With other figures of its inputs where it has some. */
  copy(records: SheetRecords, record: number, inputs: readonly Seen[] = records.inputs(record)): void {
    this.#rows.copy(records.rows, record);
    this.#describe(records.id(record), records.kind(record), records.ttlMs(record), records.world(record));
    this.#addInputs(inputs);
  }

  encode(texts: readonly string[]): readonly [Buffer, Buffer] {
    const columns: RecordColumns = {
      id: this.#id,
      kind: this.#kind,
      ttlMs: sparse(this.#ttlMs),
      world: sparse(this.#world),
      path: this.#path,
      folders: [...this.#folders],
      digests: this.#digests.join('\n'),
    };
    const { fileMtimeMs, fileCtimeMs } = this.#numbers;
    const numbers = { ...this.#numbers, fileMtimeMs: isSame(fileMtimeMs, fileCtimeMs) ? undefined : fileMtimeMs };
    return this.#rows.encode(texts, { columns, numbers });
  }

  #describe(id: string, kind: Kind, ttlMs: number | undefined, world: SheetRecord['world']): void {
    this.#id.push(id);
    this.#kind.push(kind);
    this.#ttlMs.push(ttlMs);
    this.#world.push(world);
  }

  #addInputs(inputs: readonly Seen[]): void {
    const { fileSize, fileMtimeMs, fileCtimeMs, fileIno } = this.#numbers;
    for (const { path, digest, figures } of inputs) {
      const [size, mtimeMs, ctimeMs, ino] = figures ?? NO_FIGURES;
      this.#path.push(path);
      this.#folders.add(folderOf(path));
      this.#digests.push(digest ?? NO_DIGEST);
      fileSize.push(size);
      fileMtimeMs.push(mtimeMs);
      fileCtimeMs.push(ctimeMs);
      fileIno.push(ino);
    }
    this.#numbers.inputs.push(this.#path.length);
  }
}

/** The folder of a path from the root; nothing for the root itself. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** The records of a sheet that was read, by their numbers. */
export class SheetRecords {
  readonly #mtimeMs: Numbers;
  #digests: readonly string[] | undefined;

  constructor(readonly rows: KeptRecords) {
    this.#mtimeMs = rows.columns.fileMtimeMs ?? rows.columns.fileCtimeMs;
  }

  get count(): number {
    return this.rows.count;
  }

  id(record: number): string {
    return this.rows.columns.id[record]!;
  }

  kind(record: number): Kind {
    return this.rows.columns.kind[record]!;
  }

  /** What the phase said. */
  output(id: string): Output {
    return this.rows.output(this.rows.columns.id.indexOf(id));
  }

  ttlMs(record: number): number | undefined {
    return this.rows.columns.ttlMs?.[record] ?? undefined;
  }

  world(record: number): SheetRecord['world'] {
    return this.rows.columns.world?.[record] ?? undefined;
  }

  /** Where its files are. */
  get folders(): readonly string[] {
    return this.rows.columns.folders;
  }

  /** Its files have the figures that they had. */
  hasSameFigures(record: number, base: string): boolean {
    const { inputs, path, fileSize, fileCtimeMs, fileIno } = this.rows.columns;
    const end = inputs[record + 1]!;
    for (let input = inputs[record]!; input < end; input++) {
      const stat = lstatIfThere(base + path[input]!);
      if (
        stat === undefined ||
        stat.ctimeMs !== fileCtimeMs[input] ||
        stat.mtimeMs !== this.#mtimeMs[input] ||
        stat.size !== fileSize[input] ||
        stat.ino !== fileIno[input]
      ) {
        return false;
      }
    }
    return true;
  }

  inputs(record: number): readonly Seen[] {
    const { inputs, path, digests, fileSize, fileCtimeMs, fileIno } = this.rows.columns;
    this.#digests ??= digests.split('\n');
    const list: Seen[] = [];
    for (let input = inputs[record]!; input < inputs[record + 1]!; input++) {
      const digest = this.#digests[input]!;
      const ino = fileIno[input]!;
      list.push({
        path: path[input]!,
        digest: digest === NO_DIGEST ? null : digest,
        figures: ino === 0 ? undefined : [fileSize[input]!, this.#mtimeMs[input]!, fileCtimeMs[input]!, ino],
      });
    }
    return list;
  }
}
