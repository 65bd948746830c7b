import { eachEntry } from '../store/list-entries.js';
import type { StoreOptions } from '../store/options.js';
import type { Watcher } from '../store/pace.js';
import { showEntry } from '../store/show-entry.js';
import type { Entry } from '../store/store.js';
import type { Change } from './change.js';
import { explainChange } from './explain.js';
import type { StoredIdentity } from './stored-identity.js';

/** Entries that are compared: enough to find a near one, and quick in a store of any size. */
const LOOKED_AT = 100;

export interface Nearest {
  readonly entry: Entry;
  /** What is different now. Empty: the entry has the same identity. */
  readonly changes: readonly Change[];
}

type Phase = Pick<Entry, 'flow' | 'phase'>;

/** The keys of the entries of some phases, the last used first, as many as are ever compared. */
export class Candidates {
  readonly #keys = new Map<string, string[]>();

  /** False once there are enough entries of this phase. */
  add({ flow, phase }: Phase, key: string): boolean {
    const name = nameOf(flow, phase);
    const keys = this.#keys.get(name) ?? [];
    this.#keys.set(name, keys);
    return keys.length < LOOKED_AT && keys.push(key) < LOOKED_AT;
  }

  of(flow: unknown, phase: unknown): readonly string[] {
    return this.#keys.get(nameOf(flow, phase)) ?? [];
  }
}

/** Goes through the whole store, once for all phases. */
export async function candidatesFor(
  options: Pick<StoreOptions, 'dir' | 'signingKey'>,
  identities: readonly StoredIdentity[],
  watcher: Watcher,
): Promise<Candidates> {
  const candidates = new Candidates();
  const open = new Set(identities.map((identity) => nameOf(identity['flow'], identity['phase'])));
  const visit = ({ flow, phaseId, key }: { flow: string; phaseId: string; key: string }) => {
    const name = nameOf(flow, phaseId);
    if (open.has(name) && !candidates.add({ flow, phase: phaseId }, key)) open.delete(name);
    return open.size > 0;
  };
  if (open.size > 0) await eachEntry(options, visit, watcher);
  return candidates;
}

/** Of the last used entries of the same phase, the one that differs least; of equals, the one used last. */
export function nearestEntry(
  options: Pick<StoreOptions, 'dir' | 'signingKey'>,
  now: StoredIdentity,
  candidates: Candidates,
): Nearest | undefined {
  const { flow, phase } = now;
  let nearest: Nearest | undefined;
  for (const key of candidates.of(flow, phase)) {
    const shown = showEntry(options, key);
    if (!('entry' in shown) || shown.entry.flow !== flow || shown.entry.phase !== phase) continue;
    const changes = explainChange(now, shown.entry.identity);
    if (nearest === undefined || changes.length < nearest.changes.length) nearest = { entry: shown.entry, changes };
  }
  return nearest;
}

function nameOf(flow: unknown, phase: unknown): string {
  return `${String(flow)}\n${String(phase)}`;
}
