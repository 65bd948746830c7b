import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from '../util/atomic-write.js';
import { sha256Hex } from '../util/digest.js';
import { statIfThere } from '../util/stat.js';
import type { ProjectPlace } from '../util/user-cache.js';
import { userCacheDir } from '../util/user-cache.js';

/**
 * Which contents we wrote (a phase of ours did, or a restore) to which path: what is not in here is somebody's work and
 * is never overwritten. It lies in the user's own folder and not in the cache folder: a cache that comes from elsewhere
 * must not say that we wrote `package.json`. Lines are only appended, one short write each, so processes do not disturb
 * each other; it is read only when a file is not as it should be.
 */
export class Ledger {
  readonly #path: string;
  #read: { readonly bytes: number; readonly rows: ReadonlySet<string> } | undefined;

  constructor(project: ProjectPlace) {
    this.#path = ledgerPath(project);
  }

  record(files: readonly { readonly path: string; readonly digest: string }[]): void {
    if (files.length === 0) return;
    const lines = files.map(({ path, digest }) => `${rowText(path, digest)}\n`).join('');
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      appendFileSync(this.#path, lines, { mode: 0o600 });
    } catch {
      // A forgotten write passes for a person's: that costs an execution, and destroys nothing.
    }
  }

  /** Whether this content of this path is ours. */
  wrote(path: string, digest: string): boolean {
    const bytes = statIfThere(this.#path)?.size ?? 0;
    if (this.#read?.bytes !== bytes) this.#read = { bytes, rows: new Set(readLines(this.#path)) };
    return this.#read.rows.has(rowText(path, digest));
  }
}

export function ledgerPath({ root, home, env }: ProjectPlace): string {
  return join(userCacheDir(env, home), 'written-files', `${sha256Hex(root)}.jsonl`);
}

function rowText(path: string, digest: string): string {
  return JSON.stringify([path, digest]);
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(0, -1);
  } catch {
    // Nothing was ever written, or the folder was cleared: then nothing is known to be ours.
    return [];
  }
}

const KEPT_PER_PATH = 8;

/** Drops repetitions and all but the latest contents of each path. A line appended meanwhile may be lost. */
export function compactLedger(project: ProjectPlace): void {
  const path = ledgerPath(project);
  const lines = readLines(path);
  const latest = new Map<string, string[]>();
  for (const line of lines) {
    const name = pathOf(line);
    if (name === undefined) continue;
    const known = (latest.get(name) ?? []).filter((other) => other !== line);
    latest.set(name, [...known, line].slice(-KEPT_PER_PATH));
  }
  const kept = [...latest.values()].flat();
  if (kept.length !== lines.length) writeFileAtomic(path, kept.map((line) => `${line}\n`).join(''));
}

function pathOf(line: string): string | undefined {
  try {
    const row: unknown = JSON.parse(line);
    return Array.isArray(row) && typeof row[0] === 'string' ? row[0] : undefined;
  } catch {
    // Cut short.
    return undefined;
  }
}
