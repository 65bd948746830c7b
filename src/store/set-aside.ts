import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfThere } from '../util/atomic-write.js';
import { DAMAGED, entryPath } from './paths.js';

/** Enough to see what happened; more would be a second cache. */
const KEPT = 20;

/**
 * Moves a damaged entry out of the way and keeps it for inspection; false where that fails. The entry is a miss
 * either way.
 */
export function setAside(dir: string, key: string, now: number): boolean {
  const folder = join(dir, DAMAGED);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    renameSync(entryPath(dir, key), join(folder, `${String(now).padStart(15, '0')}-${key}.json`));
    const kept = readdirSync(folder).sort();
    for (const name of kept.slice(0, Math.max(0, kept.length - KEPT))) removeIfThere(join(folder, name));
    return true;
  } catch {
    // The folder is read-only, or another process was quicker.
    return false;
  }
}
