import { crc32 } from 'node:zlib';
import { readDerivedFile, writeDerivedFile } from '../../util/derived-cache.js';
import { sha256Hex } from '../../util/digest.js';
import { type FileStamp, leftAloneBefore } from '../../util/file-stamp.js';
import { parsedJson } from '../../util/if-there.js';
import type { ProjectPlace } from '../../util/user-cache.js';
import { STATS_PER_FILE } from './found-files.js';

/**
 * Stats of files, each with the digest of the content then. One file on disk, replaced as a whole, so several processes
 * may use it at once; the last one wins, and each is right.
 *
 *     header (HEADER bytes of JSON, padded) | numbers: size, mtime, ctime, inode, time of reading | digests | paths
 *
 * The rows have the order in which the file system lists the files. It lists them the same way the next time, so a
 * look-up compares with the next row and needs neither a sort nor a map.
 */
export interface StatTable {
  readonly rows: number;
  /** Each followed by a NUL, which no path holds. */
  readonly paths: string;
  /** NUMBERS_PER_ROW per row. */
  readonly numbers: Float64Array;
  /** 32 bytes per row. */
  readonly digests: Buffer;
  /** The fingerprint of exactly these rows, where they are those of a glob. */
  readonly value: string;
}

/** The stats of a file, and when it was read. */
export const NUMBERS_PER_ROW = STATS_PER_FILE + 1;
const VERSION = 4;
/** A multiple of eight, so that the numbers behind it can be used without a copy. */
const HEADER = 256;

/** Whether the row's digest holds for the file with this stat. */
export function isTrusted({ numbers }: StatTable, row: number, stat: FileStamp): boolean {
  const start = row * NUMBERS_PER_ROW;
  return (
    numbers[start] === stat.size &&
    numbers[start + 1] === stat.mtimeMs &&
    numbers[start + 2] === stat.ctimeMs &&
    numbers[start + 3] === stat.ino &&
    isSettled(numbers, row)
  );
}

/** The same, of file `file` in a list of stats. */
export function isTrustedAmong(
  { numbers }: StatTable,
  row: number,
  { stats, file }: { readonly stats: readonly number[]; readonly file: number },
): boolean {
  const start = row * NUMBERS_PER_ROW;
  const at = file * STATS_PER_FILE;
  for (let k = 0; k < STATS_PER_FILE; k++) if (numbers[start + k] !== stats[at + k]) return false;
  return isSettled(numbers, row);
}

/** Whether the file of this row had been left alone for long enough when it was read. */
export function isSettled(numbers: Float64Array, row: number): boolean {
  const start = row * NUMBERS_PER_ROW;
  return leftAloneBefore(numbers[start + 1]!, numbers[start + 2]!, numbers[start + 4]!);
}

export function pathsOf(table: StatTable): string[] {
  return table.paths.split('\0').slice(0, table.rows);
}

/** For messages: the digest of each file. */
export function partsOf(table: StatTable): Record<string, string> {
  const hex = table.digests.toString('hex');
  // Without a prototype, a file may be called `__proto__`.
  const parts: Record<string, string> = Object.create(null);
  for (const [row, path] of pathsOf(table).entries()) parts[path] = hex.slice(row * 64, row * 64 + 64);
  return parts;
}

export function tableName(what: string): string {
  return `${sha256Hex(what).slice(0, 32)}.bin`;
}

/** Undefined when there is none or it is torn: then all files are read again. */
export function readTable(project: ProjectPlace, name: string): StatTable | undefined {
  const bytes = readDerivedFile(project, name);
  if (bytes === undefined) return undefined;
  // Undefined for a table that is torn, or written by something else.
  const header = parsedJson(bytes.toString('latin1', 0, HEADER)) as Header | undefined;
  const body = bytes.subarray(HEADER);
  if (header?.version !== VERSION || header.sum !== sumOf(header, body)) return undefined;
  const { rows, value } = header;
  const numbersEnd = rows * NUMBERS_PER_ROW * 8;
  const digestsEnd = numbersEnd + rows * 32;
  const place = body.byteOffset % 8 === 0 ? body : Buffer.from(Uint8Array.from(body).buffer);
  return {
    rows,
    value,
    numbers: new Float64Array(place.buffer, place.byteOffset, rows * NUMBERS_PER_ROW),
    digests: body.subarray(numbersEnd, digestsEnd),
    paths: body.toString('utf8', digestsEnd),
  };
}

interface Header {
  readonly version: number;
  readonly rows: number;
  readonly value: string;
  readonly sum: number;
}

/** Covers the header, too: a wrong number of rows would be read beyond the file. */
function sumOf({ rows, value }: Pick<Header, 'rows' | 'value'>, body: Buffer): number {
  return crc32(JSON.stringify([rows, value]), crc32(body));
}

/** Best effort: a table that cannot be written only costs time. */
export function writeTable(project: ProjectPlace, name: string, table: StatTable): void {
  const { rows, value, numbers, digests, paths } = table;
  const numberBytes = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  const body = Buffer.concat([numberBytes, digests, Buffer.from(paths)]);
  const header: Header = { version: VERSION, rows, value, sum: sumOf({ rows, value }, body) };
  const whole = Buffer.concat([Buffer.from(JSON.stringify(header).padEnd(HEADER)), body]);
  writeDerivedFile(project, name, whole);
}
