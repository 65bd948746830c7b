import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepareFolder } from '../../store/folder.js';
import { STAT_TABLES } from '../../store/paths.js';
import { writeFileAtomic } from '../../util/atomic-write.js';
import { sha256Hex } from '../../util/digest.js';
import { FIGURES } from '../files/found-files.js';

/**
 * What is known of the files of one glob: what a stat said, and the digest of the content then. One file per glob,
 * replaced as a whole, so several processes may use it at once; the last one wins, and each is right.
 *
 *     <checksum of the rest>\n <header as JSON>\n <numbers: size, mtime, ctime, inode, time of reading> <digests> <paths>
 *
 * The rows stand in the order in which the file system lists the files. It lists them the same way the next time, so a
 * look-up is a comparison with the next row, without sorting and without a map.
 */
export interface StatTable {
  readonly paths: readonly string[];
  /** NUMBERS per row. */
  readonly numbers: Float64Array;
  /** 32 bytes per row. */
  readonly digests: Buffer;
  /** The fingerprint of exactly these rows. */
  readonly value: string;
}

/** The figures of a file, and when it was read. */
export const NUMBERS = FIGURES + 1;
const VERSION = 1;
/**
 * Time stamps move in ticks (up to 2 seconds on some file systems), and a file may change twice within one. A row counts
 * only if the file had been left alone for longer than that when it was read.
 */
const SAFE_MARGIN_MS = 2_500;

/** Whether the row's digest is that of the file whose figures (see FoundFiles) stand at `at`. */
export function isTrusted({ numbers }: StatTable, row: number, figures: readonly number[], at: number): boolean {
  const start = row * NUMBERS;
  const mtime = figures[at + 1]!;
  const ctime = figures[at + 2]!;
  return (
    numbers[start] === figures[at] &&
    numbers[start + 1] === mtime &&
    numbers[start + 2] === ctime &&
    numbers[start + 3] === figures[at + 3] &&
    Math.max(mtime, ctime) + SAFE_MARGIN_MS < numbers[start + 4]!
  );
}

export function digestOfRow({ digests }: StatTable, row: number): string {
  return digests.toString('hex', row * 32, row * 32 + 32);
}

export function tableName(what: string): string {
  return `${sha256Hex(what).slice(0, 32)}.bin`;
}

/** Undefined when there is none or it is not whole: then everything is read again. */
export function readTable(stateDir: string, name: string): StatTable | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(stateDir, STAT_TABLES, name));
  } catch {
    // Not made yet, or not readable: the files themselves are.
    return undefined;
  }
  if (bytes.length < 65 || sha256Hex(bytes.subarray(65)) !== bytes.toString('latin1', 0, 64)) return undefined;
  const headerEnd = bytes.indexOf(10, 65);
  const header = JSON.parse(bytes.toString('utf8', 65, headerEnd)) as { version: number; rows: number; value: string };
  if (header.version !== VERSION) return undefined;
  const numbersLength = header.rows * NUMBERS * 8;
  const start = headerEnd + 1;
  // Copied, because the numbers need not stand at a multiple of eight in the file.
  const numbers = new Float64Array(header.rows * NUMBERS);
  Buffer.from(numbers.buffer).set(bytes.subarray(start, start + numbersLength));
  const digestsEnd = start + numbersLength + header.rows * 32;
  const paths = header.rows === 0 ? [] : bytes.toString('utf8', digestsEnd).split('\0');
  return { paths, numbers, digests: bytes.subarray(start + numbersLength, digestsEnd), value: header.value };
}

/** Best effort: a table that cannot be written costs time, nothing else. */
export function writeTable(stateDir: string, name: string, table: StatTable): void {
  const header = JSON.stringify({ version: VERSION, rows: table.paths.length, value: table.value });
  const rest = Buffer.concat([
    Buffer.from(`${header}\n`),
    Buffer.from(table.numbers.buffer, table.numbers.byteOffset, table.numbers.byteLength),
    table.digests,
    Buffer.from(table.paths.join('\0')),
  ]);
  const whole = Buffer.concat([Buffer.from(`${sha256Hex(rest)}\n`), rest]);
  const path = join(stateDir, STAT_TABLES, name);
  if (!('failed' in writeFileAtomic(path, whole))) return;
  if (prepareFolder(stateDir) !== undefined) return;
  try {
    mkdirSync(join(stateDir, STAT_TABLES), { mode: 0o700 });
  } catch {
    // Another process has just made it, or nobody can.
  }
  writeFileAtomic(path, whole);
}
