import { isAscii } from 'node:buffer';
import { readFileSync } from 'node:fs';
import type { JsonValue } from '../../model/json.js';
import type { Kind } from '../../model/kind.js';
import { NO_SAVINGS, type Output, type Savings, type Usage } from '../../model/outcome.js';
import { entryPath } from '../../store/paths.js';
import { TOUCH_AFTER_MS } from '../../store/touch.js';
import { lstatIfThere } from '../../util/stat.js';
import { once, twice } from '../../util/twice.js';
import { addToSavings, savingsOf } from '../budget.js';
import { costInFull, isFree, reusedFigures, reusedLine } from '../journal/reused-line.js';
import type { JournalWriter, LinePlace } from '../journal/writer.js';

/**
 * A result in the store that is taken without being looked up, as long as its entry is the very file that it was; and the
 * line that the journal then gets, which is the same each time and so is written without being made.
 */
export interface KeptRow extends KeptResult, EntryFigures {
  readonly line: KeptLine;
}

/** What is told of it besides its output. */
export interface KeptResult {
  readonly key: string;
  readonly madeAt: number;
  readonly durationMs: number;
  /** Undefined where nothing was used but time. */
  readonly usage: Usage | undefined;
  readonly model: string | undefined;
}

export interface EntryFigures {
  /** The store's note of when the entry was last used. */
  readonly usedAt: number;
  readonly ino: number;
  readonly size: number;
  readonly ctimeMs: number;
}

/** A line with its end, from `start` to `end` of bytes that do not change. */
export interface KeptLine {
  readonly source: Buffer;
  readonly start: number;
  readonly end: number;
  /** How much of it stands before its output, which is the last thing in it. */
  readonly head: number;
}

/**
 * Rows, column by column: as objects, a thousand of them would be made, and moved by two collections, before the first one is
 * looked at. A column that no row has anything in is left out.
 */
interface Columns {
  /** All of them, one after the other. */
  readonly key: string;
  readonly usage?: readonly (Usage | null)[];
  readonly model?: readonly (string | null)[];
}

/** Those of numbers stand in the file as the machine has them: as text, reading them would take longer than all the rest. */
interface NumberColumns {
  readonly madeAt: Numbers;
  readonly durationMs: Numbers;
  readonly ino: Numbers;
  readonly size: Numbers;
  readonly ctimeMs: Numbers;
  /** Left out if each was last used when it was made. */
  readonly usedAt?: Numbers;
  /** Of the lines. */
  readonly head: Numbers;
  /** Where each line begins, from the first one on, and where the last one ends. */
  readonly line: Numbers;
}

export type Numbers = ArrayLike<number>;
type NamedNumbers = Readonly<Record<string, Numbers | undefined>>;

/** Which columns of numbers there are, and how many numbers are in each. */
const NUMBERS = 'numbers';
type Counts = readonly (readonly [name: string, count: number])[];

const NEWLINE = 10;
const KEY_LENGTH = 64;
/** After the output: the end of the object and that of the line. */
const AFTER_OUTPUT = 2;

/** What a row is made of besides its entry. */
export interface RowFacts {
  readonly phase: string;
  readonly kind: Kind;
  readonly unit?: string;
  readonly key: string;
  readonly madeAt: number;
  readonly output: Output;
  readonly cost: { readonly usage: Usage; readonly durationMs: number };
  readonly model?: string;
  readonly facts?: JsonValue;
}

export function newRow(result: RowFacts, { usedAt, ino, size, ctimeMs }: EntryFigures): KeptRow {
  const { phase, kind, unit, key, madeAt, cost, model } = result;
  const output = JSON.stringify(result.output);
  const figures = reusedFigures(result);
  const text = reusedLine({ phase, kind, unit, key, runKey: key, hit: 'cross-run', madeAt, figures, output });
  const source = Buffer.from(`${text}\n`);
  const head = source.length - AFTER_OUTPUT - Buffer.byteLength(output);
  const { usage, durationMs } = cost;
  const line = { source, start: 0, end: source.length, head };
  return { key, madeAt, durationMs, usage: isFree(usage) ? undefined : usage, model, usedAt, ino, size, ctimeMs, line };
}

/** Of the entry as it is now; undefined when it is not there. */
export function entryFigures(store: string, key: string): EntryFigures | undefined {
  const stat = lstatIfThere(entryPath(store, key));
  return stat && { usedAt: stat.mtimeMs, ino: stat.ino, size: stat.size, ctimeMs: stat.ctimeMs };
}

/** How long what it said is, written. */
export function outputLength({ start, end, head }: KeptLine): number {
  return end - start - head;
}

/** More columns, beside those of the rows. */
interface MoreColumns {
  readonly columns?: object;
  readonly numbers?: NamedNumbers;
}

/** Rows on their way into a file: new ones, and such as stand in another file and are copied column by column. */
export class RowsWriter {
  #key = '';
  readonly #usage: (Usage | undefined)[] = [];
  readonly #model: (string | undefined)[] = [];
  readonly #numbers = {
    madeAt: [] as number[],
    durationMs: [] as number[],
    ino: [] as number[],
    size: [] as number[],
    ctimeMs: [] as number[],
    usedAt: [] as number[],
    head: [] as number[],
    line: [0],
  } satisfies NumberColumns;
  readonly #lines: { readonly source: Buffer; readonly start: number; end: number }[] = [];
  #length = 0;

  add({ key, usage, model, madeAt, durationMs, ino, size, ctimeMs, usedAt, line }: KeptRow): void {
    const numbers = this.#numbers;
    this.#key += key;
    this.#usage.push(usage);
    this.#model.push(model);
    numbers.madeAt.push(madeAt);
    numbers.durationMs.push(durationMs);
    numbers.ino.push(ino);
    numbers.size.push(size);
    numbers.ctimeMs.push(ctimeMs);
    numbers.usedAt.push(usedAt);
    this.#addLine(line.source, line.start, line.end, line.head);
  }

  copy(rows: KeptRows<unknown>, row: number): void {
    const { columns, source, first } = rows;
    const numbers = this.#numbers;
    this.#key += rows.key(row);
    this.#usage.push(columns.usage?.[row] ?? undefined);
    this.#model.push(columns.model?.[row] ?? undefined);
    numbers.madeAt.push(columns.madeAt[row]!);
    numbers.durationMs.push(columns.durationMs[row]!);
    numbers.ino.push(columns.ino[row]!);
    numbers.size.push(columns.size[row]!);
    numbers.ctimeMs.push(columns.ctimeMs[row]!);
    numbers.usedAt.push(rows.usedAt[row]!);
    this.#addLine(source, first + columns.line[row]!, first + columns.line[row + 1]!, columns.head[row]!);
  }

  /** Texts of one line each, the columns, and the lines of all rows; twice, so that a torn file is told from a whole one. */
  encode(texts: readonly string[], more: MoreColumns = {}): readonly [Buffer, Buffer] {
    const columns: Columns = { key: this.#key, usage: sparse(this.#usage), model: sparse(this.#model) };
    const { usedAt, ctimeMs } = this.#numbers;
    const own: NumberColumns = { ...this.#numbers, usedAt: isSame(usedAt, ctimeMs) ? undefined : usedAt };
    const numbers = Object.entries<Numbers | undefined>({ ...own, ...more.numbers } satisfies NamedNumbers).flatMap(
      ([name, column]) => (column ? [{ name, column }] : []),
    );
    const counts: Counts = numbers.map(({ name, column }) => [name, column.length]);
    const top = [...texts, JSON.stringify({ ...columns, ...more.columns, [NUMBERS]: counts }), ''].join('\n');
    const values = numbers.map(({ column }) => Buffer.from(Float64Array.from(column).buffer));
    const lines = this.#lines.map(({ source, start, end }) => source.subarray(start, end));
    return twice(Buffer.concat([Buffer.from(top), ...values, ...lines]));
  }

  #addLine(source: Buffer, start: number, end: number, head: number): void {
    this.#numbers.head.push(head);
    this.#length += end - start;
    this.#numbers.line.push(this.#length);
    const last = this.#lines.at(-1);
    if (last?.source === source && last.end === start) last.end = end;
    else this.#lines.push({ source, start, end });
  }
}

/** Of a column that is left out where it says the same as another one. */
export function isSame(column: readonly number[], other: readonly number[]): boolean {
  return column.every((number, index) => number === other[index]);
}

/** A column that most rows have nothing in; undefined if none has. */
export function sparse<T>(values: readonly (T | undefined)[]): readonly (T | null)[] | undefined {
  return values.some((value) => value !== undefined) ? values.map((value) => value ?? null) : undefined;
}

/** The texts of such a file, one after the other, and then its rows. */
export class RowsFile {
  #next = 0;

  private constructor(private readonly bytes: Buffer) {}

  /** Undefined for a file that is torn or garbled. */
  static read(path: string): RowsFile | undefined {
    const bytes = once(readFileSync(path));
    return bytes && new RowsFile(bytes);
  }

  text(): string {
    const start = this.#next;
    const end = this.bytes.indexOf(NEWLINE, start);
    if (end === -1) throw new Error('a text is missing');
    this.#next = end + 1;
    return this.bytes.toString('utf8', start, end);
  }

  /** Throws at what is whole, and yet not ours. */
  rows<More>(): KeptRows<More> {
    const columns: Record<string, unknown> = JSON.parse(this.text());
    this.#addNumbers(columns, columns[NUMBERS] as Counts);
    return new KeptRows(columns as unknown as Columns & NumberColumns & More, this.bytes, this.#next);
  }

  #addNumbers(columns: Record<string, unknown>, counts: Counts): void {
    const start = this.bytes.byteOffset + this.#next;
    const length = counts.reduce((sum, [, count]) => sum + count, 0) * Float64Array.BYTES_PER_ELEMENT;
    // A copy, because in the file they begin anywhere.
    const values = this.bytes.buffer.slice(start, start + length);
    let at = 0;
    for (const [name, count] of counts) {
      columns[name] = new Float64Array(values, at, count);
      at += count * Float64Array.BYTES_PER_ELEMENT;
    }
    this.#next += length;
  }
}

/** Rows as they were read: each is put together when it is asked for. */
export class KeptRows<More> {
  readonly usedAt: Numbers;
  #outputs: readonly Output[] | undefined;

  constructor(
    readonly columns: Columns & NumberColumns & More,
    /** The lines are in there. */
    readonly source: Buffer,
    /** Where the first of them begins. */
    readonly first: number,
  ) {
    this.usedAt = columns.usedAt ?? columns.ctimeMs;
    if (this.#start(this.count) !== source.length) throw new Error('these lines are of other rows');
  }

  get count(): number {
    return this.columns.line.length - 1;
  }

  key(row: number): string {
    return this.columns.key.slice(row * KEY_LENGTH, (row + 1) * KEY_LENGTH);
  }

  /** Its entry is the very file that was read, it may still be used, and the store knows that it is in use. */
  stands(row: number, store: string, now: number, ttlMs: number | undefined): boolean {
    const { madeAt, ino, size, ctimeMs } = this.columns;
    const age = now - madeAt[row]!;
    if (age < 0 || (ttlMs !== undefined && age > ttlMs) || now - this.usedAt[row]! >= TOUCH_AFTER_MS) return false;
    const stat = lstatIfThere(entryPath(store, this.key(row)));
    return stat !== undefined && stat.ctimeMs === ctimeMs[row] && stat.ino === ino[row] && stat.size === size[row];
  }

  age(row: number, now: number): number {
    return Math.max(0, now - this.columns.madeAt[row]!);
  }

  /** What taking all of them saves. */
  savedByAll(): Savings {
    const { usage, durationMs } = this.columns;
    const sum = { ...NO_SAVINGS };
    for (let row = 0; row < this.count; row++) {
      // Mostly that is nothing but time, of which no object has to be made.
      if (usage) addToSavings(sum, this.saved(row));
      else sum.ms += Math.round(durationMs[row]!);
    }
    return sum;
  }

  /** What taking it saves. */
  saved(row: number): Savings {
    return savingsOf(this.cost(row));
  }

  /** What it had cost. */
  cost(row: number): { readonly usage: Usage; readonly durationMs: number } {
    const { usage, durationMs } = this.columns;
    return costInFull({ usage: usage?.[row] ?? undefined, durationMs: durationMs[row]! });
  }

  line(row: number): KeptLine {
    return {
      source: this.source,
      start: this.#start(row),
      end: this.#start(row + 1),
      head: this.columns.head[row]!,
    };
  }

  output(row: number): Output {
    const { head } = this.columns;
    const [start, end] = [this.#start(row) + head[row]!, this.#start(row + 1) - AFTER_OUTPUT];
    return JSON.parse(this.source.toString('utf8', start, end)) as Output;
  }

  /** Of all rows, for whoever needs most of them. */
  get outputs(): readonly Output[] {
    this.#outputs ??= this.#readOutputs();
    return this.#outputs;
  }

  /**
   * As one text and one value, which takes a third of the time. In a text of one character per byte each is where its bytes
   * are, which makes sense of it unless there is more than ASCII in it.
   */
  #readOutputs(): readonly Output[] {
    const { head, line } = this.columns;
    if (!isAscii(this.source.subarray(this.first))) {
      return Array.from({ length: this.count }, (_, row) => this.output(row));
    }
    const text = this.source.toString('latin1', this.first);
    const parts: string[] = [];
    for (let row = 0; row < this.count; row++) {
      parts.push(text.slice(line[row]! + head[row]!, line[row + 1]! - AFTER_OUTPUT));
    }
    return JSON.parse(`[${parts.join(',')}]`) as Output[];
  }

  /** How long that is, written. */
  outputLength(row: number): number {
    const { head, line } = this.columns;
    return line[row + 1]! - line[row]! - head[row]!;
  }

  result(row: number): KeptResult {
    const { madeAt, durationMs, usage, model } = this.columns;
    return {
      key: this.key(row),
      madeAt: madeAt[row]!,
      durationMs: durationMs[row]!,
      usage: usage?.[row] ?? undefined,
      model: model?.[row] ?? undefined,
    };
  }

  row(row: number): KeptRow {
    const { ino, size, ctimeMs } = this.columns;
    return {
      ...this.result(row),
      usedAt: this.usedAt[row]!,
      ino: ino[row]!,
      size: size[row]!,
      ctimeMs: ctimeMs[row]!,
      line: this.line(row),
    };
  }

  /** The journal gets the lines of these rows, or of all. */
  write(journal: JournalWriter, at: number, first = 0, end = this.count): LinePlace {
    return journal.writeTaken(at, this.source, this.#start(first), this.#start(end));
  }

  #start(row: number): number {
    return this.first + this.columns.line[row]!;
  }
}
