import { readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Kind } from '../../model/kind.js';
import type { Savings } from '../../model/outcome.js';
import { checksum } from '../../util/checksum.js';
import { writeDerivedFile } from '../../util/derived-cache.js';
import { type Project, STATE_DIR } from '../../util/project.js';
import { once, twice } from '../../util/twice.js';
import { VERSION } from '../../util/version.js';
import type { RunLine } from '../journal/lines.js';
import type { Seen } from './seen.js';

/**
 * What a run found when all of it was, or could have been, reused: everything it looked at, and what came of it. As long
 * as all of that is unchanged, the next run of the same flow with the same arguments comes to the same, and the sheet
 * says what. It stands beside the kept checks and not in the cache folder: it is taken at its word, so it must be ours.
 */
export interface Sheet {
  readonly head: SheetHead;
  /** The phases as the journal's first line lists them, as JSON text. */
  readonly outline: string;
  /** In the order in which they settled: each after what it needs. */
  readonly records: readonly SheetRecord[];
}

export interface SheetHead {
  /** What was asked for, in full. */
  readonly asked: string;
  /** Outside of phases: the flow, the settings, whatever the check looked at. Absolute paths. */
  readonly files: readonly Seen[];
  /** Absolute. */
  readonly store: string;
  /** Names under which the last run of this flow is remembered: of any, and of those with these arguments. */
  readonly pointers: readonly [ofFlow: string, ofArguments: string];
  readonly run: Pick<RunLine, 'flow' | 'file' | 'fileDigest' | 'byName' | 'args' | 'argsDigest'>;
  /** The phase whose output is the flow's. */
  readonly result: string;
}

export interface SheetRecord {
  readonly id: string;
  readonly key: string;
  readonly madeAt: number;
  /** The store's note of when the entry was last used. */
  readonly usedAt: number;
  readonly ttlMs?: number;
  /** Of the entry's file: inode, size and ctime. */
  readonly entry: readonly [ino: number, size: number, ctimeMs: number];
  /** Files that decide the result, relative to the project root. */
  readonly inputs: readonly Seen[];
  /** Other fingerprints that decide it, with the canonical text of each value. */
  readonly world?: readonly (readonly [entry: string, value: string])[];
  readonly kind: Kind;
  readonly model?: string;
  readonly saved: Savings;
  /** As JSON text, which goes into the journal as it is. */
  readonly output: string;
  /** The part of the journal's line that is the same every time: see `reusedFigures`. */
  readonly figures: string;
}

/** Raised when a sheet looks different or means something else. */
const FORMAT = 3;
export const SHEETS = `${STATE_DIR}/unchanged`;
const KEPT_SHEETS = 64;
/** Of what a sheet or a roll says, in characters: beyond it, reading it takes as long as what it saves. */
export const LARGEST = 2 * 1024 * 1024;

/** They hold outputs: whoever clears those must not find them there. What is gone is made again by the next run. */
export function forgetSheets(project: Project): void {
  rmSync(join(project.root, SHEETS), { recursive: true, force: true });
}

/** What a person asked for, where it is enough to tell that they ask for the same again. */
export function askedFor(project: Project, flow: string, args: readonly string[]): string {
  return JSON.stringify([FORMAT, VERSION, project.root, project.home, flow, ...args]);
}

/** The sheet says in full what it is for: of two that fall on one name, the later one stays. */
export function sheetPath(project: Project, asked: string): string {
  return join(project.root, SHEETS, `${checksum(Buffer.from(asked)).toString(16).padStart(8, '0')}.sheet`);
}

/** Undefined when there is none, or it is torn: then the run is simply run. */
export function readSheet(path: string, asked: string): Sheet | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    // None was kept.
    return undefined;
  }
  const body = once(bytes);
  const lines = body?.toString('utf8').split('\n') ?? [];
  try {
    return decode(lines, asked);
  } catch {
    // Whole, and yet not ours: someone made it by hand.
    return undefined;
  }
}

/** Head, outline, and three lines for each record. */
function decode(lines: readonly string[], asked: string): Sheet | undefined {
  if (lines.length < 2) return undefined;
  const head = JSON.parse(lines[0]!) as SheetHead;
  if (head.asked !== asked) return undefined;
  const records: SheetRecord[] = [];
  for (let index = 2; index < lines.length; index += 3) {
    const record = JSON.parse(lines[index]!) as { -readonly [name in keyof SheetRecord]: SheetRecord[name] };
    record.output = lines[index + 1]!;
    record.figures = lines[index + 2]!;
    records.push(record);
  }
  return { head, outline: lines[1]!, records };
}

export function writeSheet(path: string, { head, outline, records }: Sheet): void {
  const lines = [JSON.stringify(head), outline];
  for (const record of records) {
    const { output, figures } = record;
    lines.push(JSON.stringify({ ...record, output: undefined, figures: undefined }), output, figures);
  }
  const whole = twice(Buffer.from(lines.join('\n')));
  writeDerivedFile(dirname(path), basename(path), whole, { names: /^[0-9a-f]{8}\.sheet$/, kept: KEPT_SHEETS });
}
