import type { Collected } from './collect-garbage.js';
import { type Marker, readMarker, writeMarker } from './collect-marker.js';
import type { DiskStore } from './disk-store.js';
import type { StoreLimits } from './options.js';

const DAY_MS = 24 * 3_600_000;
/** Additions that are too few to matter for the index: whoever lists the store reads them in a tenth of a second. */
const FEW = 5_000;

/**
 * At the end of a run, when everything has been said: collects if a collection is due. A run that added nothing costs
 * nothing; one that did costs a small read and a write, and the collection itself is spread over many runs.
 */
export async function maybeCollect(store: DiskStore): Promise<Collected | { readonly busy: string } | undefined> {
  const { added, options } = store;
  if (added.entries === 0 && added.bytes === 0) return undefined;
  const { dir, limits, project } = options;
  const now = project.clock.now();
  const marker = readMarker(dir) ?? (store.isNew ? { at: now, entries: 0, bytes: 0, puts: 0, added: 0 } : undefined);
  if (marker) {
    const next = { ...marker, puts: marker.puts + added.entries, added: marker.added + added.bytes };
    if (!isDue(next, limits, now)) {
      writeMarker(dir, next);
      return undefined;
    }
  }
  const { collectGarbage } = await import('./collect-garbage.js');
  return collectGarbage(options, lowWater(limits));
}

function isDue(marker: Marker, limits: StoreLimits, now: number): boolean {
  const age = now - marker.at;
  if (age > DAY_MS || age < 0) return true;
  if (marker.entries + marker.puts > limits.maxEntries) return true;
  if (marker.bytes + marker.added > limits.maxBytes) return true;
  return marker.puts > Math.max(FEW, marker.entries / 4);
}

/** A little below the bounds, or a full store would be due again after every run. */
function lowWater(limits: StoreLimits): StoreLimits {
  return {
    ...limits,
    maxEntries: limits.maxEntries - Math.floor(limits.maxEntries / 20),
    maxBytes: limits.maxBytes - Math.floor(limits.maxBytes / 20),
  };
}
