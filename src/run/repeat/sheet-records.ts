import type { Kind } from '../../model/kind.js';
import type { Output } from '../../model/outcome.js';
import { lstatIfThere } from '../../util/stat.js';
import { encodeRows, type KeptRow, type KeptRows, type Numbers, sparse, sums } from './kept-rows.js';
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
export interface RecordColumns {
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

export type KeptRecords = KeptRows<RecordColumns & RecordNumbers>;

/** Stands for a file that was not there. */
const NO_DIGEST = '';
const NO_FIGURES: NonNullable<Seen['figures']> = [0, 0, 0, 0];

export function encodeRecords(texts: readonly string[], records: readonly SheetRecord[]): readonly [Buffer, Buffer] {
  const inputs = records.flatMap((record) => record.inputs);
  const figures = inputs.map((input) => input.figures ?? NO_FIGURES);
  const columns: RecordColumns = {
    id: records.map(({ id }) => id),
    kind: records.map(({ kind }) => kind),
    ttlMs: sparse(records.map(({ ttlMs }) => ttlMs)),
    world: sparse(records.map(({ world }) => world)),
    path: inputs.map(({ path }) => path),
    folders: [...new Set(inputs.map(({ path }) => folderOf(path)))],
    digests: inputs.map(({ digest }) => digest ?? NO_DIGEST).join('\n'),
  };
  const numbers: RecordNumbers = {
    inputs: sums(records.map((record) => record.inputs.length)),
    fileSize: figures.map(([size]) => size),
    fileCtimeMs: figures.map(([, , ctimeMs]) => ctimeMs),
    fileMtimeMs: figures.every(([, mtimeMs, ctimeMs]) => mtimeMs === ctimeMs)
      ? undefined
      : figures.map(([, mtimeMs]) => mtimeMs),
    fileIno: figures.map(([, , , ino]) => ino),
  };
  const rows = records.map(({ row }) => row);
  return encodeRows(texts, rows, { columns, numbers: { ...numbers } });
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
      const seen = { path: path[input]!, digest: digest === NO_DIGEST ? null : digest };
      const ino = fileIno[input]!;
      const figures = [fileSize[input]!, this.#mtimeMs[input]!, fileCtimeMs[input]!, ino] as const;
      list.push(ino === 0 ? seen : { ...seen, figures });
    }
    return list;
  }

  /** Put together, with other figures of its inputs where it has some. */
  record(record: number, inputs: readonly Seen[] = this.inputs(record)): SheetRecord {
    return {
      id: this.id(record),
      kind: this.kind(record),
      row: this.rows.row(record),
      ttlMs: this.ttlMs(record),
      inputs,
      world: this.world(record),
    };
  }
}
