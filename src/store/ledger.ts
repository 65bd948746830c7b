import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../util/atomic-write.js';
import type { FolderAccess } from './folder-access.js';

export const LEDGER = 'written-files.jsonl';

/**
 * Which contents we wrote (a phase of ours did, or a restore) to which path: what is not in here is somebody's work and
 * is never overwritten. Lines are only appended, one short write each, so processes do not disturb each other; it is
 * read only when a file is not as it should be.
 */
export class Ledger {
  readonly #access: FolderAccess;

  constructor(access: FolderAccess) {
    this.#access = access;
  }

  record(files: readonly { readonly path: string; readonly digest: string }[]): void {
    if (files.length === 0 || this.#access.problem() !== undefined) return;
    const lines = files.map(({ path, digest }) => `${JSON.stringify([path, digest])}\n`).join('');
    try {
      appendFileSync(join(this.#access.dir, LEDGER), lines, { mode: 0o600 });
    } catch (error) {
      // Forgotten writes are taken for a person's later, which costs an execution and nobody's work.
      this.#access.report(error as NodeJS.ErrnoException);
    }
  }

  /** Whether this content of this path is ours. */
  wrote(path: string, digest: string): boolean {
    return readLedger(this.#access.dir).some(([knownPath, known]) => knownPath === path && known === digest);
  }
}

function readLedger(dir: string): [string, string][] {
  let text: string;
  try {
    text = readFileSync(join(dir, LEDGER), 'utf8');
  } catch {
    // Nothing was ever written, or the folder was cleared: then nothing is known to be ours.
    return [];
  }
  return text.split('\n').flatMap((line) => {
    try {
      const row: unknown = JSON.parse(line);
      return Array.isArray(row) && row.length === 2 ? [row as [string, string]] : [];
    } catch {
      // The last line, or one that was cut short.
      return [];
    }
  });
}

const KEPT_PER_PATH = 8;

/** Drops repetitions and all but the latest contents of each path. A line appended meanwhile may be lost: see `record`. */
export function compactLedger(dir: string): void {
  const rows = readLedger(dir);
  const latest = new Map<string, string[]>();
  for (const [path, digest] of rows) {
    const known = (latest.get(path) ?? []).filter((other) => other !== digest);
    latest.set(path, [...known, digest].slice(-KEPT_PER_PATH));
  }
  const kept = [...latest].flatMap(([path, digests]) => digests.map((digest) => [path, digest]));
  if (kept.length === rows.length) return;
  writeFileAtomic(join(dir, LEDGER), kept.map((row) => `${JSON.stringify(row)}\n`).join(''));
}
