import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { eachName } from './folder-names.js';
import type { LogOptions } from './index-log.js';
import { INDEX, INDEX_LOG, INDEX_LOG_TAKEN, isKey, keyOfEntryName } from './paths.js';

/** About ten thousand rows: a few hundredths of a second, whatever the size of the store. */
const READ_AT_MOST = 3 * 1024 ** 2;

interface RecentRow {
  readonly key: string;
  readonly flow: string;
  readonly phaseId: string;
}

/**
 * The rows that were written last, the newest first, without a look at the folder: the entry of a row may be gone and
 * the row may be forged, so callers read the entry first. `isAll` is false where there may be more.
 */
export function recentRows({ dir }: LogOptions): { readonly rows: readonly RecentRow[]; readonly isAll: boolean } {
  const rows: RecentRow[] = [];
  let left = READ_AT_MOST;
  let files = 0;
  for (const name of [INDEX_LOG, INDEX_LOG_TAKEN, INDEX]) {
    const end = readEnd(join(dir, name), left);
    if (end === undefined) continue;
    files += 1;
    for (const line of end.text.split('\n').reverse()) {
      const row = parseLine(line);
      if (row) rows.push(row);
    }
    if (!end.isWhole) return { rows, isAll: false };
    left -= end.text.length;
  }
  return { rows, isAll: files > 0 || !hasEntries(dir) };
}

function hasEntries(dir: string): boolean {
  for (const name of eachName(dir)) if (keyOfEntryName(name) !== undefined) return true;
  return false;
}

function readEnd(path: string, most: number): { readonly text: string; readonly isWhole: boolean } | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      const bytes = Buffer.allocUnsafe(Math.min(size, most));
      const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
      return { text: bytes.toString('utf8', 0, read), isWhole: size <= most };
    } finally {
      closeSync(file);
    }
  } catch {
    // Nothing was written yet.
    return undefined;
  }
}

/** Undefined for a use, which has no row, and for half a line. */
function parseLine(line: string): RecentRow | undefined {
  if (!line.includes('"phaseId"')) return undefined;
  try {
    const isLogged = line.startsWith('{"key"');
    const value = JSON.parse(isLogged ? line : `{${line.replace(/,$/, '')}}`) as Record<string, Partial<RecentRow>>;
    const key = isLogged ? String(value['key']) : (Object.keys(value)[0] ?? '');
    const { flow, phaseId } = (isLogged ? value : value[key]!) as Partial<RecentRow>;
    if (!isKey(key) || typeof flow !== 'string' || typeof phaseId !== 'string') return undefined;
    return { key, flow, phaseId };
  } catch {
    // Cut short.
    return undefined;
  }
}
