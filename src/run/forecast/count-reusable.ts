import { type ContextParts, makeContext } from '../context/make-context.js';
import type { World } from '../context/world.js';
import { Admission } from '../core/admission.js';
import { ownScope } from '../core/scope.js';
import { runScope } from '../schedule/schedule.js';
import { ForecastJournal } from './forecast-journal.js';

/** What a run that continues another one takes from it and from the store. */
export interface Reusable {
  readonly reusable: number;
  /** What stands behind something that runs is reused too, if that says what it said before. */
  readonly atLeast: boolean;
  /** Phases that the run continued has done, and that run again all the same. */
  readonly mismatched: readonly { readonly id: string; readonly reason: string }[];
}

/**
 * Counts the phases that will be reused by going through the run without executing anything: only their keys tell. What
 * the run's own world is asked for on the way, it knows when the run begins right after. Undefined if nobody can say.
 */
export async function countReusable(
  parts: ContextParts,
  fingerprints: World['fingerprints'],
): Promise<Reusable | undefined> {
  const { prior } = parts;
  const { approve: _approve, timeoutMs: _timeoutMs, ...options } = parts.options;
  const context = await makeContext({
    ...parts,
    options: { ...options, forecast: true, world: { fingerprints, endWith: () => {} } },
    journal: new ForecastJournal(),
    emit: () => {},
    warn: () => {},
  });
  if ('refused' in context) return undefined;
  const scope = ownScope(options, new Admission());
  await runScope(context, scope, context.signal);
  context.close();
  let reusable = 0;
  let atLeast = false;
  const mismatched: { id: string; reason: string }[] = [];
  for (const { id, status, cacheHit, failure, reason } of scope.outcomes.values()) {
    if (cacheHit !== null) reusable += 1;
    else if (failure?.forecast === 'would-run') {
      if (prior.has(id)) mismatched.push({ id, reason });
    } else if (status === 'cancelled') atLeast ||= prior.has(id);
  }
  return { reusable, atLeast, mismatched };
}
