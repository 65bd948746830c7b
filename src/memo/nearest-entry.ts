import { type ListedEntry, listEntries } from '../store/list-entries.js';
import type { StoreOptions } from '../store/options.js';
import { showEntry } from '../store/show-entry.js';
import type { Entry } from '../store/store.js';
import type { Change } from './change.js';
import { explainChange } from './explain.js';
import type { StoredIdentity } from './stored-identity.js';

/** Enough to find the one that differs least, and quick however large the store is. */
const LOOKED_AT = 100;

export interface Nearest {
  readonly entry: Entry;
  /** What is different now. Empty: it is the very entry. */
  readonly changes: readonly Change[];
}

/**
 * Of the last used entries of the same phase, the one that differs least; the later one of equals. `listed`: what there
 * is, for callers that ask more than once.
 */
export function nearestEntry(
  options: Pick<StoreOptions, 'dir' | 'signingKey'>,
  now: StoredIdentity,
  listed: readonly ListedEntry[] = listEntries(options),
): Nearest | undefined {
  let nearest: Nearest | undefined;
  const candidates = listed.filter(({ flow, phaseId }) => flow === now['flow'] && phaseId === now['phase']);
  for (const { key } of candidates.slice(0, LOOKED_AT)) {
    const shown = showEntry(options, key);
    if (!('entry' in shown)) continue;
    const changes = explainChange(now, shown.entry.identity);
    if (nearest === undefined || changes.length < nearest.changes.length) nearest = { entry: shown.entry, changes };
  }
  return nearest;
}
