import type { Collected } from './collect-garbage.js';
import { DAY_MS, type Marker, readMarker, writeMarker } from './collect-marker.js';
import { compactIndex, isCompactionDue } from './compact-index.js';
import type { DiskStore } from './disk-store.js';
import { eachName } from './folder-names.js';
import { lowWater } from './low-water.js';
import type { StoreLimits, StoreOptions } from './options.js';

/** How long to wait for another collection. After that the next run collects. */
const PATIENCE_MS = 2_000;

/** A run goes through this many files at its end, which takes a tenth of a second. */
const FEW_FILES = 4_000;

/** Starts a process that tidies up; false where that is not possible. */
type Later = (options: StoreOptions) => boolean;

/**
 * At the end of a run, after its last message: collects if a collection is due, else brings the index up to date if
 * that is cheap or was put off for long. After a run that added nothing this costs nothing; else a small read and a
 * write, and the rest is spread over many runs. A large store is left to another process, so that no user waits.
 */
export async function maybeCollect(
  store: DiskStore,
  later: Later = () => false,
): Promise<Collected | { readonly busy: string } | undefined> {
  const { added, options } = store;
  store.log.flush();
  const hasAdded = added.entries > 0 || added.bytes > 0;
  const mustCollect = hasAdded && isCollectionDue(store);
  if (!mustCollect && !isCompactionDue(options, hasAdded)) return undefined;
  if (isLarge(options.dir) && later(options)) return undefined;
  if (!mustCollect) {
    await compactIndex(options);
    return undefined;
  }
  const { collectGarbage } = await import('./collect-garbage.js');
  return collectGarbage(options, { limits: lowWater(options.limits), patienceMs: PATIENCE_MS });
}

function isLarge(dir: string): boolean {
  let files = 0;
  for (const _name of eachName(dir)) {
    files += 1;
    if (files > FEW_FILES) return true;
  }
  return false;
}

/** Also writes down what this run has added, for the next run to decide. */
function isCollectionDue({ added, options, isNew }: DiskStore): boolean {
  const { dir, limits, project } = options;
  const now = project.clock.now();
  const marker = readMarker(dir) ?? (isNew ? { at: now, entries: 0, bytes: 0, puts: 0, added: 0 } : undefined);
  if (!marker) return true;
  const next = { ...marker, puts: marker.puts + added.entries, added: marker.added + added.bytes };
  writeMarker(dir, next);
  return isDue(next, limits, now);
}

function isDue(marker: Marker, limits: StoreLimits, now: number): boolean {
  const age = now - marker.at;
  if (age > DAY_MS || age < 0) return true;
  return marker.entries + marker.puts > limits.maxEntries || marker.bytes + marker.added > limits.maxBytes;
}
