import type { ErrnoError } from '../../util/atomic-write.js';
import type { Clock } from '../../util/clock.js';
import { sha256Hex } from '../../util/digest.js';
import { digestFile, digestSmallFile } from '../../util/digest-file.js';
import { nextTurn } from '../../util/timer.js';
import { STATS_PER_FILE } from '../files/found-files.js';
import { isSettled, isTrustedAmong, NUMBERS_PER_ROW, pathsOf, type StatTable } from '../files/stat-table.js';

interface DigestRequest {
  readonly root: string;
  readonly clock: Clock;
  readonly paths: readonly string[];
  readonly stats: readonly number[];
  /** Earlier digests; undefined to read all files. */
  readonly known: StatTable | undefined;
}

type DigestResult =
  /** `table` is `known` itself when there is nothing new to keep. */
  { readonly table: StatTable } | { readonly failed: string } | { readonly vanished: string };

/** Reading yields to other work after this time. */
const TURN_MS = 20;

/** The content digest of every file: from the table where a row can be trusted, else from its bytes. */
export async function digestFiles(request: DigestRequest): Promise<DigestResult> {
  const { paths, stats, known, clock } = request;
  const rows = matchRows(paths, known);
  const unknown: number[] = [];
  for (let i = 0; i < paths.length; i++) {
    const row = rows ? rows[i]! : i;
    if (known === undefined || row < 0 || !isTrustedAmong(known, row, { stats, file: i })) unknown.push(i);
  }
  if (known && rows === undefined && unknown.length === 0) return { table: known };

  const numbers = new Float64Array(paths.length * NUMBERS_PER_ROW);
  const digests = Buffer.allocUnsafe(paths.length * 32);
  if (known) copyRows(known, rows, { numbers, digests, count: paths.length });
  /** The rows that are known, with the same contents. */
  let unchanged = known !== undefined && rows === undefined;
  let turn = clock.elapsed();
  for (const i of unknown) {
    const readAt = clock.now();
    const absolute = `${request.root}/${paths[i]!}`;
    const size = stats[i * STATS_PER_FILE]!;
    let digest: string;
    try {
      // Awaiting each small file would cost more than reading it.
      digest = size < 65_536 ? digestSmallFile(absolute) : await digestFile(absolute, size);
    } catch (error) {
      const { code } = error as ErrnoError;
      if (code === 'ENOENT') return { vanished: paths[i]! };
      if (code === undefined) throw error;
      return { failed: `${paths[i]} cannot be read (${code})` };
    }
    for (let k = 0; k < STATS_PER_FILE; k++) numbers[i * NUMBERS_PER_ROW + k] = stats[i * STATS_PER_FILE + k]!;
    numbers[i * NUMBERS_PER_ROW + STATS_PER_FILE] = readAt;
    unchanged &&= known?.digests.toString('hex', i * 32, i * 32 + 32) === digest;
    digests.write(digest, i * 32, 'hex');
    if (clock.elapsed() - turn > TURN_MS) {
      await nextTurn();
      turn = clock.elapsed();
    }
  }
  if (known && unchanged) {
    // Files that were edited just now are read again next time, so a table that differs only in these is not written.
    const nothingSettled = unknown.every((row) => !isSettled(numbers, row));
    return { table: nothingSettled ? known : { ...known, numbers } };
  }
  const value = combine(paths, digests);
  return { table: { rows: paths.length, paths: paths.map((path) => `${path}\0`).join(''), numbers, digests, value } };
}

/** Row of each path in the known table; undefined when they are the same paths in the same order. */
function matchRows(paths: readonly string[], known: StatTable | undefined): Int32Array | undefined {
  if (known === undefined) return undefined;
  const knownPaths = pathsOf(known);
  if (paths.length === known.rows && paths.every((path, i) => path === knownPaths[i])) return undefined;
  const byPath = new Map(knownPaths.map((path, row) => [path, row]));
  return Int32Array.from(paths, (path) => byPath.get(path) ?? -1);
}

function copyRows(
  known: StatTable,
  rows: Int32Array | undefined,
  to: { numbers: Float64Array; digests: Buffer; count: number },
): void {
  if (rows === undefined) {
    to.numbers.set(known.numbers);
    known.digests.copy(to.digests);
    return;
  }
  for (let i = 0; i < to.count; i++) {
    const row = rows[i]!;
    if (row < 0) continue;
    to.numbers.set(
      known.numbers.subarray(row * NUMBERS_PER_ROW, row * NUMBERS_PER_ROW + NUMBERS_PER_ROW),
      i * NUMBERS_PER_ROW,
    );
    known.digests.copy(to.digests, i * 32, row * 32, row * 32 + 32);
  }
}

/** One digest of all names and contents. No path holds a NUL and all digests have one length: no two lists mix up. */
function combine(paths: readonly string[], digests: Buffer): string {
  const hex = digests.toString('hex');
  const lines = paths.map((path, i) => `${path}\0${hex.slice(i * 64, i * 64 + 64)}`);
  return sha256Hex(lines.sort().join('\n'));
}
