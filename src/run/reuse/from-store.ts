import { strongKey } from '../../memo/identity.js';
import { changedInputs } from '../../memo/observed/changed-inputs.js';
import { stateOf } from '../../memo/observed/observed-files.js';
import type { SeenInputs } from '../../model/observation.js';
import { StoredOutput } from '../../model/output.js';
import type { Entry, GetResult } from '../../store/store.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Settled } from '../core/execution.js';
import { bringBack } from './bring-back.js';
import { type Found, fromEntry, shortest } from './settle.js';

/** `miss`: why the result that is there may not be reused; undefined when there is none. */
export type LookUp = { readonly settled: Settled } | { readonly miss: string | undefined };

/** `later`: the store has something, and files have to be looked at or restored first. */
export type AtOnce = LookUp | { readonly later: 'has files' | 'has path sets' };

export const NOTHING = { miss: undefined };
export const OUTPUT_GONE = 'its output is gone';

/**
 * Looks in the store without waiting, where nothing else in this run makes the same result. Undefined where the policy
 * does not read the store, or this run has to be asked first.
 */
export function lookAtOnce(at: PhaseContext, found: Found): AtOnce | undefined {
  const { run, policy } = at;
  if (!policy.readStore || !run.reuse.store || (policy.readRun && run.reuse.shared.knows(found.runKey)))
    return undefined;
  const got = get(at, found, found.key);
  if ('miss' in got) return missOf(got);
  const { entry } = got;
  if (entry.pathSets) return { later: 'has path sets' };
  if (isUnobserved(at)) return NOTHING;
  const isWhole = entry.files.length === 0 && !(entry.output instanceof StoredOutput);
  return isWhole ? { settled: fromEntry(entry, found, got.now) } : { later: 'has files' };
}

export async function lookUp(at: PhaseContext, found: Found): Promise<LookUp> {
  const kept = await keptResult(at, found);
  if ('miss' in kept) return kept;
  const { entry, now, seen } = kept;
  const output = await at.run.io.outputs.adopt(entry.output);
  const problem = output ? await bringBack(at, found, entry.files) : OUTPUT_GONE;
  if (!output || problem !== undefined) return { miss: problem };
  return { settled: { ...fromEntry({ ...entry, output, key: found.key }, found, now), ...(seen && { seen }) } };
}

interface Kept {
  readonly entry: Entry;
  readonly now: number;
  readonly seen?: SeenInputs;
}

type Miss = { readonly miss: string | undefined };

/** The entry under the declared key; or one that was made from what is now at the paths which executions looked at. */
async function keptResult(at: PhaseContext, found: Found): Promise<Kept | Miss> {
  const got = get(at, found, found.key);
  if ('miss' in got) return missOf(got);
  const { pathSets } = got.entry;
  if (!pathSets) return isUnobserved(at) ? NOTHING : got;
  const { mode } = at.policy.observe;
  if (mode === 'off') return NOTHING;
  let miss: string | undefined;
  for (const set of pathSets) {
    if (mode === 'strict' && !set.complete) continue;
    const looked = await at.run.reuse.observed.look(set);
    const value = stateOf(set, looked);
    const kept = value === undefined ? undefined : get(at, found, strongKey(found.key, value));
    if (value !== undefined && kept && 'entry' in kept && !kept.entry.pathSets)
      return { ...kept, seen: { set, value } };
    // The latest set is that of the last execution.
    miss ??= changedInputs(set, looked) ?? (kept && 'miss' in kept ? missOf(kept).miss : undefined);
  }
  return { miss };
}

/** Nobody knows what a result under the declared key was made from, and the phase wants to be sure. */
function isUnobserved({ policy }: PhaseContext): boolean {
  return policy.observe.mode === 'strict';
}

function get(at: PhaseContext, found: Found, key: string): GetResult & { readonly now: number } {
  const now = at.run.options.project.clock.now();
  const ttlMs = shortest(at.policy.ttlMs, found.ttlMs);
  return { ...at.run.reuse.store!.get(key, { ttlMs, now }), now };
}

function missOf({ miss }: Extract<GetResult, { miss: unknown }>): Miss {
  return { miss: miss.code === 'absent' ? undefined : miss.reason };
}
