import { join } from 'node:path';
import { appendDerivedFile, readDerivedFile, writeDerivedFile } from '../util/derived-cache.js';
import { parsedJson } from '../util/if-there.js';
import { statIfThere } from '../util/stat.js';
import { derivedDir, type ProjectPlace } from '../util/user-cache.js';

const LEDGER = 'restored.jsonl';

/**
 * Which contents taskflow wrote to which path, by a phase or a restore: any other content is a person's work and is
 * never overwritten. It lies in the user's own folder and not in the cache folder: a cache that comes from elsewhere
 * must not claim that we wrote `package.json`. Lines are only appended, one short write each, so processes do not
 * disturb each other; it is read only when a file differs from what is expected.
 */
export class OutputLedger {
  readonly #project: ProjectPlace;
  #read: { readonly bytes: number; readonly rows: ReadonlySet<string> } | undefined;

  constructor(project: ProjectPlace) {
    this.#project = project;
  }

  /** A lost line makes our file look like a person's: that costs an execution, and destroys nothing. */
  record(files: readonly { readonly path: string; readonly digest: string }[]): void {
    if (files.length === 0) return;
    const lines = files.map(({ path, digest }) => `${rowText(path, digest)}\n`).join('');
    appendDerivedFile(this.#project, LEDGER, lines);
  }

  /** Whether this content of this path is ours. */
  wrote(path: string, digest: string): boolean {
    const bytes = statIfThere(ledgerPath(this.#project))?.size ?? 0;
    if (this.#read?.bytes !== bytes) this.#read = { bytes, rows: new Set(readLines(this.#project)) };
    return this.#read.rows.has(rowText(path, digest));
  }
}

export function ledgerPath(project: ProjectPlace): string {
  return join(derivedDir(project), LEDGER);
}

function rowText(path: string, digest: string): string {
  return JSON.stringify([path, digest]);
}

/**
 * None where nothing was ever written, or where another user could have written: then no content is known to be ours.
 */
function readLines(project: ProjectPlace): string[] {
  return (readDerivedFile(project, LEDGER)?.toString('utf8') ?? '').split('\n').slice(0, -1);
}

const KEPT_PER_PATH = 8;

/** Drops repetitions and all but the latest contents of each path. A line appended meanwhile may be lost. */
export function compactLedger(project: ProjectPlace): void {
  const lines = readLines(project);
  const latest = new Map<string, string[]>();
  for (const line of lines) {
    const name = pathOf(line);
    if (name === undefined) continue;
    const known = (latest.get(name) ?? []).filter((other) => other !== line);
    latest.set(name, [...known, line].slice(-KEPT_PER_PATH));
  }
  const kept = [...latest.values()].flat();
  if (kept.length !== lines.length) writeDerivedFile(project, LEDGER, kept.map((line) => `${line}\n`).join(''));
}

function pathOf(line: string): string | undefined {
  const row = parsedJson(line);
  return Array.isArray(row) && typeof row[0] === 'string' ? row[0] : undefined;
}
