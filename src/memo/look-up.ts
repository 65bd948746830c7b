import type { Flow, Phase } from '../model/flow.js';
import { mayBeCrossRun } from '../model/kind.js';
import { type Savings, totalTokens } from '../model/outcome.js';
import type { Entry, Store, StoreMiss } from '../store/store.js';
import { formatDuration } from '../util/duration.js';
import { formatMoney } from '../util/format.js';

/**
 * Why this phase may never be reused across runs, whatever it says; undefined when it may. What a flow says is checked
 * before the run; this is asked again when it matters, for flows that came to be in another way. Saved flows that the
 * phase uses are not in its definition: whoever loads them asks again for each of their phases.
 */
export function crossRunProblem(phase: Phase): string | undefined {
  if (!mayBeCrossRun(phase.kind)) return `a ${phase.kind} is decided in each run`;
  if (!phase.idempotent) return 'it is not idempotent';
  const inner = phase.kind === 'flow' || phase.kind === 'expand' ? phase.source : undefined;
  return inner?.from === 'inline' ? containedProblem(inner.flow) : undefined;
}

function containedProblem(flow: Flow): string | undefined {
  for (const phase of flow.phases) {
    const problem = phase.cache.scope === 'off' ? 'its cache scope is off' : crossRunProblem(phase);
    if (problem !== undefined) return `it contains ${phase.id}: ${problem}`;
  }
  return undefined;
}

export type LookUp = { readonly hit: Hit } | { readonly miss: StoreMiss };

export interface Hit {
  readonly entry: Entry;
  readonly ageMs: number;
  readonly saved: Savings;
}

/** Asks the store; a hit knows its age and what it saves. */
export function lookUp(
  store: Pick<Store, 'get'>,
  key: string,
  when: { readonly ttlMs?: number; readonly now: number },
): LookUp {
  const got = store.get(key, when);
  if ('miss' in got) return got;
  const { entry } = got;
  const saved = { usd: entry.usage.usd ?? 0, tokens: totalTokens(entry.usage), ms: entry.durationMs };
  return { hit: { entry, ageMs: Math.max(0, when.now - entry.createdAt), saved } };
}

/** `cross-run · age 6m · saved $0.04, 12s`. Money is left out where there was none. */
export function hitWords({ ageMs, saved }: Hit): string {
  const worth = [...(saved.usd > 0 ? [formatMoney(saved.usd)] : []), formatDuration(saved.ms)];
  return `cross-run · age ${formatDuration(ageMs)} · saved ${worth.join(', ')}`;
}
