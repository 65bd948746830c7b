import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileData, removeAbandoned, removeIfThere, writeFileAtomic } from './atomic-write.js';
import { sha256Hex } from './digest.js';
import { namesIn, parsedJson, readIfThere } from './if-there.js';
import { isOwnFolder, makeOwnFolder } from './own-folder.js';
import { statIfThere } from './stat.js';
import { derivedDir, type ProjectPlace } from './user-cache.js';

/**
 * Values that can be derived again, kept as `<digest>.json`: the digest covers the source text, everything else that
 * decided the value, and the version of the program. Nothing here throws: what is missing or damaged is derived again.
 */
export function readDerived(project: ProjectPlace, digest: string): unknown {
  return readChecked(project, `${digest}.json`);
}

export function writeDerived(project: ProjectPlace, digest: string, value: unknown): void {
  writeChecked(project, `${digest}.json`, value);
}

/** A JSON value stored with the digest of its text: it may decide what is executed, so it must be intact. */
export function readChecked(project: ProjectPlace, name: string): unknown {
  const bytes = readDerivedFile(project, name);
  const end = bytes?.indexOf('\n') ?? -1;
  if (!bytes || end < 0) return undefined;
  const text = bytes.toString('utf8', end + 1);
  if (bytes.toString('latin1', 0, end) !== sha256Hex(text)) return undefined;
  return parsedJson(text);
}

export function writeChecked(project: ProjectPlace, name: string, value: unknown): void {
  const text = JSON.stringify(value);
  writeDerivedFile(project, name, [`${sha256Hex(text)}\n`, text]);
}

/** The bytes of a kept file. Undefined when there is none, or when another user could have written it. */
export function readDerivedFile(project: ProjectPlace, name: string): Buffer | undefined {
  return isOwnFolder(project) ? readIfThere(join(derivedDir(project), name)) : undefined;
}

export function writeDerivedFile(project: ProjectPlace, name: string, data: FileData): void {
  const dir = derivedDir(project);
  if (!isOwnFolder(project) && !makeOwnFolder(project)) return;
  if ('written' in writeFileAtomic(join(dir, name), data)) tidy(dir, name);
}

/** Adds to a kept file, in one short write: processes do not disturb each other. Best effort. */
export function appendDerivedFile(project: ProjectPlace, name: string, text: string): void {
  if (!isOwnFolder(project) && !makeOwnFolder(project)) return;
  try {
    appendFileSync(join(derivedDir(project), name), text, { mode: 0o600 });
  } catch {
    // Read-only, or full.
  }
}

/** Removes all of one ending. */
export function removeDerivedFiles(project: ProjectPlace, ending: string): void {
  const dir = derivedDir(project);
  for (const name of namesIn(dir)) if (name.endsWith(ending)) removeIfThere(join(dir, name));
}

/** Files of one ending that are kept: every edit of a source leaves one behind. */
const KEPT = 200;

/** Removes the older half when there are too many, and what killed processes were writing. */
function tidy(dir: string, written: string): void {
  const now = statIfThere(join(dir, written))?.mtimeMs ?? 0;
  removeAbandoned(dir, now);
  const ending = written.slice(written.lastIndexOf('.'));
  const alike = namesIn(dir).filter((name) => name.endsWith(ending));
  if (alike.length <= KEPT) return;
  const byAge = alike.map((name) => ({ name, time: statIfThere(join(dir, name))?.mtimeMs ?? 0 }));
  byAge.sort((a, b) => a.time - b.time);
  for (const { name } of byAge.slice(0, alike.length - KEPT / 2)) removeIfThere(join(dir, name));
}
