import { strongKey } from '../../memo/identity.js';
import type { JsonObject } from '../../model/json.js';
import type { SeenInputs } from '../../model/observation.js';
import { NO_OUTPUT, NO_USAGE } from '../../model/outcome.js';
import { type Output, StoredOutput } from '../../model/output.js';
import { sizeOf, withLatest } from '../../store/path-sets.js';
import type { Claim, Entry, PutResult, Store } from '../../store/store.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Settled } from '../core/execution.js';
import { entryOf } from './entry.js';
import type { Found } from './settle.js';

/** Puts a result where a later run finds it. `claim` is that of the declared key, and ends here. */
export function keepResult(
  at: PhaseContext,
  { found, settled, claim }: { readonly found: Found; readonly settled: Settled; readonly claim?: Claim },
): PutResult {
  const store = at.run.reuse.store!;
  const entry = entryOf(at, found, settled);
  const put = (last: Entry) => (claim ? claim.put(last) : store.put(last));
  const { seen } = settled.result;
  if (!seen || !countsIn(at, seen)) return put(entry);
  const identity: JsonObject = { ...entry.identity, observed: seen.value };
  const result = store.put({ ...entry, key: strongKey(found.key, seen.value), identity });
  // The result first: whoever finds the path sets finds it.
  if (result.stored) return put(pathsEntry(at, entry, seen));
  claim?.release();
  return result;
}

/** A phase that looked at nothing else is found by its declared key; with `strict`, only what was seen is found. */
function countsIn({ policy }: PhaseContext, { set }: SeenInputs): boolean {
  return sizeOf(set) > 0 || policy.observe.mode === 'strict';
}

function pathsEntry({ run }: PhaseContext, entry: Entry, { set }: SeenInputs): Entry {
  const before = run.reuse.store!.peek(entry.key, { now: entry.createdAt });
  const sets = 'entry' in before ? (before.entry.pathSets ?? []) : [];
  return {
    ...entry,
    runId: '',
    output: NO_OUTPUT,
    files: [],
    model: undefined,
    facts: undefined,
    usage: NO_USAGE,
    durationMs: 0,
    pathSets: withLatest(set, sets),
  };
}

/** Gives the store the files of a large output; returns what is in the way, in words. */
export function keepOutput(store: Store, output: Output): string | undefined {
  for (const file of output instanceof StoredOutput ? output.files : []) {
    const kept = store.blobs.adopt(file.path, file);
    if ('failed' in kept) return kept.failed;
  }
  return undefined;
}
