import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type FileData, removeIfThere, writeFileAtomic } from './atomic-write.js';

/**
 * Values that were worked out from a text and can be worked out again: kept as `<digest>.json`, where the digest stands
 * for the text, whatever else decided the value, and the version of the program. Nothing here throws: whatever is
 * missing, damaged or unwritable is simply worked out again.
 */
export function readDerived(dir: string, digest: string): unknown {
  try {
    return JSON.parse(readFileSync(join(dir, `${digest}.json`), 'utf8'));
  } catch {
    // Absent, unreadable or damaged: the caller derives the value again, and its write replaces the file.
    return undefined;
  }
}

export function writeDerived(dir: string, digest: string, value: unknown): void {
  writeDerivedFile(dir, `${digest}.json`, JSON.stringify(value), { names: /^[0-9a-f]{64}\.json$/, kept: KEPT });
}

const KEPT = 200;

/** For those that are not JSON. The folder is made for the first one, and is nobody's business but ours. */
export function writeDerivedFile(
  dir: string,
  name: string,
  data: FileData,
  { names, kept }: { readonly names: RegExp; readonly kept: number },
): void {
  const path = join(dir, name);
  const first = writeFileAtomic(path, data);
  if ('written' in first) forgetOldest(dir, names, kept);
  if ('written' in first || first.failed.code !== 'ENOENT') return;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch {
    // A read-only project: it stays without kept values.
    return;
  }
  writeFileAtomic(join(dir, '.gitignore'), '*\n');
  writeFileAtomic(path, data);
}

/** Every edit of a file leaves a value behind; the least recently written half goes when there are too many. */
function forgetOldest(dir: string, pattern: RegExp, kept: number): void {
  try {
    const names = readdirSync(dir).filter((name) => pattern.test(name));
    if (names.length <= kept) return;
    const byAge = names.map((name) => ({ name, time: statSync(join(dir, name)).mtimeMs }));
    byAge.sort((a, b) => a.time - b.time);
    for (const { name } of byAge.slice(0, names.length - kept / 2)) removeIfThere(join(dir, name));
  } catch {
    // Another process tidies up at this moment: one of us will do.
  }
}
