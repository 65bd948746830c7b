import { devNull } from 'node:os';
import { type ContextParts, makeContext } from '../context/make-context.js';
import type { World } from '../context/world.js';
import { Admission } from '../core/admission.js';
import { ownScope } from '../core/scope.js';
import { JournalWriter } from '../journal/writer.js';
import { runScope } from '../schedule/schedule.js';

/** What a run that continues another one will reuse of that run and of the store. */
interface Reusable {
  readonly reusable: number;
  /** A phase behind one that runs is reused too if the output of that one does not change. */
  readonly atLeast: boolean;
  /** Phases that the continued run has completed, and that run again. */
  readonly mismatched: readonly { readonly id: string; readonly reason: string }[];
}

/**
 * Counts the phases that will be reused, by a forecast of the opened run. It shares the run's fingerprints, so that the
 * run need not compute them again. Undefined if the forecast is refused.
 */
export async function countReusable(
  parts: ContextParts,
  { fingerprints, stats }: Pick<World, 'fingerprints' | 'stats'>,
): Promise<Reusable | undefined> {
  const { prior } = parts;
  const { approve: _approve, timeoutMs: _timeoutMs, ...options } = parts.options;
  const context = await makeContext({
    ...parts,
    options: { ...options, forecast: true, world: { fingerprints, stats, endWith: () => {} } },
    journal: new JournalWriter(devNull),
    emit: () => {},
    warn: () => {},
  });
  if ('refused' in context) return undefined;
  const scope = ownScope(options, new Admission());
  await runScope(context, scope, context.limits.signal);
  context.close();
  let reusable = 0;
  let atLeast = false;
  const mismatched: { id: string; reason: string }[] = [];
  for (const { id, status, origin, failure } of scope.outcomes.values()) {
    if (origin.hit !== null) reusable += 1;
    else if (failure?.forecast === 'would-run') {
      if (prior.has(id)) mismatched.push({ id, reason: origin.reason });
    } else if (status === 'cancelled') atLeast ||= prior.has(id);
  }
  return { reusable, atLeast, mismatched };
}
