import { changeSummary } from '../../memo/explain.js';
import { Candidates, nearestEntry } from '../../memo/nearest-entry.js';
import type { JsonObject } from '../../model/json.js';
import type { StoreOptions } from '../../store/options.js';
import { recentRows } from '../../store/recent-rows.js';
import { canonicalEncode } from '../../util/canonical.js';

/** Each reads up to a hundred entries: enough to explain a run, and no burden for a map of ten thousand items. */
const MOST_COMPARED = 50;

const NOTHING_KEPT = 'nothing is kept for these inputs';

/**
 * Explains a miss from the store's entries where no earlier run can, as after `cache import`. It reads the end of the
 * index once, and only for such a miss; `taskflow explain` looks through everything.
 */
export class KeptEntries {
  #recent: { readonly candidates: Candidates; readonly isAll: boolean } | undefined;
  #compared = 0;

  constructor(private readonly store: Pick<StoreOptions, 'dir' | 'signingKey'> | undefined) {}

  /**
   * What differs between now and the nearest entry, in words; undefined when the phase has no entry. An item, a branch
   * or a row with another body is not a changed one, but a new one.
   */
  difference(identity: JsonObject, isOneOfMany: boolean): string | undefined {
    if (!this.store) return undefined;
    this.#recent ??= read(this.store);
    const { candidates, isAll } = this.#recent;
    if (candidates.of(identity['flow'], identity['phase']).length === 0) return isAll ? undefined : NOTHING_KEPT;
    this.#compared += 1;
    if (this.#compared > MOST_COMPARED) return NOTHING_KEPT;
    const nearest = nearestEntry(this.store, identity, candidates);
    if (!nearest || nearest.changes.length === 0) return undefined;
    const isAnother =
      isOneOfMany && canonicalEncode(nearest.entry.identity['body']) !== canonicalEncode(identity['body']);
    return isAnother ? undefined : changeSummary(nearest.changes);
  }
}

function read(store: Pick<StoreOptions, 'dir' | 'signingKey'>): { candidates: Candidates; isAll: boolean } {
  const candidates = new Candidates();
  const { rows, isAll } = recentRows(store);
  const seen = new Set<string>();
  for (const { key, flow, phaseId } of rows) {
    if (!seen.has(key)) candidates.add({ flow, phase: phaseId }, key);
    seen.add(key);
  }
  return { candidates, isAll };
}
