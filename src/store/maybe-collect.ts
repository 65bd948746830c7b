import type { collectGarbage } from './collect-garbage.js';
import { type Marker, readMarker, writeMarker } from './collect-marker.js';
import { compactIndex, isCompactionDue } from './compact-index.js';
import type { DiskStore } from './disk-store.js';
import type { StoreLimits } from './options.js';

const DAY_MS = 24 * 3_600_000;
/** Another collection that is under way at this moment is waited for this long; the next run finds it due as well. */
const PATIENCE_MS = 2_000;

/**
 * At the end of a run, when everything has been said: collects if a collection is due, else brings the index up to
 * date if that is cheap or was put off for long. A run that added nothing costs nothing; one that did costs a small
 * read and a write, and the rest is spread over many runs.
 */
export async function maybeCollect(store: DiskStore): Promise<Awaited<ReturnType<typeof collectGarbage>> | undefined> {
  const { added, options } = store;
  store.log.flush();
  const hasAdded = added.entries > 0 || added.bytes > 0;
  if (hasAdded && isCollectionDue(store)) {
    const { collectGarbage } = await import('./collect-garbage.js');
    return collectGarbage(options, { limits: lowWater(options.limits), patienceMs: PATIENCE_MS });
  }
  if (isCompactionDue(options, hasAdded)) await compactIndex(options);
  return undefined;
}

/** Counts what this run has added, when no collection is due. */
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

/** A little below large bounds, or a full store would be due again after every run. */
function lowWater(limits: StoreLimits): StoreLimits {
  return {
    ...limits,
    maxEntries: limits.maxEntries - (limits.maxEntries < 1_000 ? 0 : Math.floor(limits.maxEntries / 20)),
    maxBytes: limits.maxBytes - Math.floor(limits.maxBytes / 20),
  };
}
