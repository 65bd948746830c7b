import { strongKey } from '../../memo/identity.js';
import { changedInputs } from '../../memo/observed/changed-inputs.js';
import { stateOf } from '../../memo/observed/observed-files.js';
import type { Result } from '../../model/outcome.js';
import { StoredOutput } from '../../model/output.js';
import type { Fetched, GetOptions, GetResult } from '../../store/store.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Settled } from '../core/execution.js';
import { bringBack } from './bring-back.js';
import { resultOf } from './entry.js';
import { type Found, fromStore, shortest } from './settle.js';

/** `miss`: why the result that is there may not be reused; undefined when there is none. */
export type LookUp = { readonly settled: Settled } | { readonly miss: string | undefined };

/** `later`: the store has something, and files have to be looked at or restored first. */
export type AtOnce = LookUp | { readonly later: 'has files' | 'has path sets' };

export const NOTHING = { miss: undefined };
export const OUTPUT_GONE = 'its output is gone';
/** With `strict`: nobody knows what a result was made from, and the phase wants to be sure. */
export const NOT_SEEN = 'observe: strict, and what the earlier result read was not all seen';

/**
 * Looks in the store without waiting, where nothing else in this run makes the same result. Undefined where the policy
 * does not read the store, or this run has to be asked first.
 */
export function lookAtOnce(at: PhaseContext, found: Found): AtOnce | undefined {
  const { run, policy } = at;
  if (!policy.readStore || !run.reuse.store || (policy.readRun && run.reuse.shared.knows(found.runKey)))
    return undefined;
  const kept = keptResult(at, found);
  if ('miss' in kept) return kept;
  if ('pending' in kept) return { later: 'has path sets' };
  const { result, now } = kept;
  const isWhole = result.files.length === 0 && !(result.output instanceof StoredOutput);
  return isWhole ? { settled: fromStore(result, found, now) } : { later: 'has files' };
}

/** `fetch` brings what a shared store has under a key into this one. */
export async function lookUp(at: PhaseContext, found: Found, fetch?: Fetch): Promise<LookUp> {
  const ask = fetch && once(fetch);
  let kept = keptResult(at, found, ask);
  while ('pending' in kept) {
    await kept.pending;
    kept = keptResult(at, found, ask);
  }
  if ('miss' in kept) return kept;
  const { result, now } = kept;
  const output = await at.run.io.outputs.adopt(result.output);
  const problem = output ? await bringBack(at, found, result.files) : OUTPUT_GONE;
  if (!output || problem !== undefined) return { miss: problem };
  return { settled: fromStore({ ...result, output }, found, now) };
}

interface Kept {
  readonly result: Result;
  readonly now: number;
}

type Miss = { readonly miss: string | undefined };

/** The entry under the declared key; or one that was made from what is now at the paths which executions looked at. */
function keptResult(at: PhaseContext, found: Found, ask?: Ask): Kept | Miss | { readonly pending: Promise<unknown> } {
  const options = getOptions(at, found);
  const { now } = options;
  const get = (key: string) => at.run.reuse.store!.get(key, options);
  const got = get(found.key);
  if ('miss' in got) return missOf(got);
  const { pathSets } = got.entry;
  const { mode } = at.policy.observe;
  if (!pathSets) return mode === 'strict' ? { miss: NOT_SEEN } : { result: resultOf(got.entry, found.key), now };
  if (mode === 'off') return NOTHING;
  let miss: string | undefined;
  for (const set of pathSets) {
    if (mode === 'strict' && !set.complete) {
      miss ??= NOT_SEEN;
      continue;
    }
    const looked = at.run.reuse.observed.look(set);
    if (looked instanceof Promise) return { pending: looked };
    const value = stateOf(set, looked);
    const key = value === undefined ? undefined : strongKey(found.key, value);
    const kept = key === undefined ? undefined : get(key);
    const asked = kept && 'miss' in kept ? ask?.(key!) : undefined;
    if (asked) return { pending: asked };
    if (value !== undefined && kept && 'entry' in kept && !kept.entry.pathSets)
      return { result: resultOf(kept.entry, found.key, { set, value }), now };
    // The latest set is that of the last execution.
    miss ??= changedInputs(set, looked) ?? (kept && 'miss' in kept ? missOf(kept).miss : undefined);
  }
  return { miss };
}

type Fetch = (key: string) => Promise<Fetched>;
/** Undefined for what was asked for already. */
type Ask = (key: string) => Promise<Fetched> | undefined;

function once(fetch: Fetch): Ask {
  const asked = new Set<string>();
  return (key) => {
    if (asked.has(key)) return undefined;
    asked.add(key);
    return fetch(key);
  };
}

export function getOptions({ run, policy }: PhaseContext, found: Found): GetOptions {
  return { ttlMs: shortest(policy.ttlMs, found.ttlMs), now: run.options.project.clock.now() };
}

function missOf({ miss }: Extract<GetResult, { miss: unknown }>): Miss {
  return { miss: miss.code === 'absent' ? undefined : miss.reason };
}
