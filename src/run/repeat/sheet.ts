import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { checksum } from '../../util/checksum.js';
import { writeDerivedFile } from '../../util/derived-cache.js';
import { type Project, STATE_DIR } from '../../util/project.js';
import { VERSION } from '../../util/version.js';
import type { RunLine } from '../journal/lines.js';
import { RowsFile } from './kept-rows.js';
import type { Seen } from './seen.js';
import { type RecordsWriter, SheetRecords } from './sheet-records.js';

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
  readonly records: SheetRecords;
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

/** Raised when a sheet looks different or means something else. */
const FORMAT = 6;
export const SHEETS = `${STATE_DIR}/unchanged`;
const KEPT_SHEETS = 64;
/** Of all outputs in a sheet or a roll, in bytes: beyond it, reading them takes as long as what it saves. */
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
  try {
    const file = RowsFile.read(path);
    const head = file && (JSON.parse(file.text()) as SheetHead);
    if (!file || head?.asked !== asked) return undefined;
    const outline = file.text();
    return { head, outline, records: new SheetRecords(file.rows()) };
  } catch {
    // None was kept; or it is whole, and yet not ours: someone made it by hand.
    return undefined;
  }
}

export function writeSheet(path: string, { head, outline }: Omit<Sheet, 'records'>, records: RecordsWriter): void {
  const whole = records.encode([JSON.stringify(head), outline]);
  writeDerivedFile(dirname(path), basename(path), whole, { names: /^[0-9a-f]{8}\.sheet$/, kept: KEPT_SHEETS });
}
