import { changeSummary, explainChange } from '../memo/explain.js';
import type { Identity } from '../memo/identity.js';
import type { JsonObject } from '../model/json.js';
import type { PhaseContext } from './phase-context.js';

/**
 * Why nothing was there to take: what spoke against the result that was there, else what changed since this phase last
 * ran, else `no entry`.
 */
export function whyMissed(
  at: PhaseContext,
  unit: string | undefined,
  found: { readonly identity: Identity; readonly key: string; stored(): JsonObject },
  refused: string | undefined,
): string {
  const { run, policy } = at;
  if (refused !== undefined) return refused;
  if (!policy.readStore && policy.scope === 'cross-run') return policy.because;
  const earlier = run.last.of(at.path, unit);
  if (earlier === undefined) return policy.because;
  if (earlier.key === found.key) {
    return policy.scope === 'cross-run'
      ? earlier.status === 'done'
        ? 'no entry'
        : `it ${earlier.status === 'failed' ? 'failed' : `was ${earlier.status}`} last time`
      : policy.because;
  }
  if (earlier.identity === undefined) return policy.because;
  const changes = explainChange(found.stored(), earlier.identity);
  return changes.length === 0 ? policy.because : changeSummary(changes);
}
