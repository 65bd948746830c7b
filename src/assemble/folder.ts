import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere, writeAll } from '../util/atomic-write.js';
import { namesIn, textIfThere } from '../util/if-there.js';
import { type Project, STATE_DIR } from '../util/project.js';
import { whyUnwritableAt } from '../util/why-unwritable.js';
import { type AssembledRecord, decodeRecord, encodeRecord, type ReadRecord } from './record.js';
import { makeUserKey, userKey } from './user-key.js';

export const ASSEMBLED_DIR = `${STATE_DIR}/assembled`;

export function assembledFolder({ root }: Pick<Project, 'root'>): string {
  return join(root, ASSEMBLED_DIR);
}

/** From the project root. */
export function recordFile(id: string): string {
  return `${ASSEMBLED_DIR}/${id}.json`;
}

const NAME = /^([0-9a-f]{16})_([0-9a-f]{12}|none)_(\d{8}-\d{6}-\d{3})(-\d+)?\.json$/;

/** Makes the folder; undefined when that worked. Git ignores its content: `promote` is how a plan is shared. */
export function makeFolder(project: Project): string | undefined {
  const folder = assembledFolder(project);
  try {
    mkdirSync(folder, { recursive: true });
    writeOnce(join(folder, '.gitignore'), '*\n');
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    return whyUnwritableAt(join(folder, 'x'), error);
  }
}

/**
 * Adds a record under a new name. It is written whole or not at all, and nothing is ever overwritten: a second record
 * of the same millisecond gets a number behind its name.
 */
export function appendRecord(
  project: Project,
  record: Omit<AssembledRecord, 'id'>,
): { readonly record: AssembledRecord } | { readonly failed: string } {
  const key = makeUserKey(project);
  const stem = `${record.inputId.slice(0, 16)}_${record.flowId.slice(0, 12)}_${timestampText(record.at)}`;
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? stem : `${stem}-${number}`;
    const path = join(assembledFolder(project), `${id}.json`);
    const complete = { ...record, id };
    try {
      writeOnce(path, encodeRecord(complete, key));
      return { record: complete };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return { failed: whyUnwritableAt(path, error) };
    }
  }
}

/** Removes a file that could not be written whole: it would pass for a complete record. */
function writeOnce(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    try {
      writeAll(file, text);
    } finally {
      // Some file systems report a full disk only here.
      closeSync(file);
    }
  } catch (error) {
    removeIfThere(path);
    throw error;
  }
}

/** The records, the newest first; of one request where its id is given. */
export function readRecords(project: Project, inputId?: string): readonly ReadRecord[] {
  const key = userKey(project);
  const names = namesIn(assembledFolder(project)).filter(
    (name) => NAME.test(name) && (inputId === undefined || name.startsWith(inputId.slice(0, 16))),
  );
  const read = names.flatMap((name) => readRecord(project, name.slice(0, -'.json'.length), key) ?? []);
  return read
    .filter(({ record }) => inputId === undefined || record.inputId === inputId)
    .sort((a, b) => b.record.at - a.record.at || compare(b.record.id, a.record.id));
}

/** The record that a run was made from, if it was: the run names the record's file as its flow. */
export function recordAt(project: Project, ref: string): ReadRecord | undefined {
  const [folder, name] = [ref.slice(0, ASSEMBLED_DIR.length + 1), ref.slice(ASSEMBLED_DIR.length + 1)];
  if (folder !== `${ASSEMBLED_DIR}/` || !NAME.test(name)) return undefined;
  return readRecord(project, name.slice(0, -'.json'.length), userKey(project));
}

function readRecord(project: Project, id: string, key: string | undefined): ReadRecord | undefined {
  const read = decodeRecord(textIfThere(join(assembledFolder(project), `${id}.json`)) ?? '', key);
  // People type the file's name: a record that was copied under another name does not count.
  return read?.record.id === id ? read : undefined;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `20260101-120000-123`, UTC: sorts by time. */
export function timestampText(at: number): string {
  const iso = new Date(at).toISOString();
  return `${iso.slice(0, 10).replaceAll('-', '')}-${iso.slice(11, 19).replaceAll(':', '')}-${iso.slice(20, 23)}`;
}
