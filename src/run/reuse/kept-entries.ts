import { changeSummary } from '../../memo/explain.js';
import { nearestEntry } from '../../memo/nearest-entry.js';
import type { JsonObject } from '../../model/json.js';
import { type ListedEntry, listEntries } from '../../store/list-entries.js';
import type { StoreOptions } from '../../store/options.js';
import { canonicalEncode } from '../../util/canonical.js';

/** Each reads up to a hundred entries: enough to explain a run, and no burden for a map of ten thousand items. */
const MOST_COMPARED = 50;

/**
 * Explains a miss from the store's entries where no earlier run can, as after `cache import`. It reads the index once,
 * and only for such a miss.
 */
export class KeptEntries {
  #ofPhase: Map<string, ListedEntry[]> | undefined;
  #compared = 0;

  constructor(private readonly store: Pick<StoreOptions, 'dir' | 'signingKey'> | undefined) {}

  /**
   * What differs between now and the nearest entry, in words; undefined when the phase has no entry. An item, a branch
   * or a row with another body is not a changed one, but a new one.
   */
  difference(identity: JsonObject, isOneOfMany: boolean): string | undefined {
    const listed = this.#entriesOf(identity);
    if (listed.length === 0 || !this.store) return undefined;
    this.#compared += 1;
    if (this.#compared > MOST_COMPARED) return 'nothing is kept for these inputs';
    const nearest = nearestEntry(this.store, identity, listed);
    if (!nearest || nearest.changes.length === 0) return undefined;
    const isAnother =
      isOneOfMany && canonicalEncode(nearest.entry.identity['body']) !== canonicalEncode(identity['body']);
    return isAnother ? undefined : changeSummary(nearest.changes);
  }

  #entriesOf({ flow, phase }: JsonObject): readonly ListedEntry[] {
    this.#ofPhase ??= this.#load();
    return this.#ofPhase.get(nameOf(flow, phase)) ?? [];
  }

  #load(): Map<string, ListedEntry[]> {
    const found = new Map<string, ListedEntry[]>();
    for (const entry of this.store ? listEntries(this.store) : []) {
      const name = nameOf(entry.flow, entry.phaseId);
      const list = found.get(name);
      if (list) list.push(entry);
      else found.set(name, [entry]);
    }
    return found;
  }
}

function nameOf(flow: unknown, phase: unknown): string {
  return `${String(flow)}\n${String(phase)}`;
}
