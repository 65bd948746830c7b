import { changeSummary, explainChange } from '../../memo/explain.js';
import type { Identity } from '../../memo/identity.js';
import { isJsonObject, type JsonObject } from '../../model/json.js';
import type { PhaseContext } from '../context/phase-context.js';
import { phasePath } from '../core/scope.js';
import { outputMark } from './identify.js';

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
  const changes = explainChange(found.stored(), earlier.wasReused ? asOfThen(at, earlier.identity) : earlier.identity);
  return changes.length === 0 ? policy.because : changeSummary(changes);
}

/**
 * A result that was reused in the last run says what the phases it quotes had said when it was made. Some of them may have
 * said something else by the last run (a list with one more item), and that is what this one is compared with.
 */
function asOfThen(at: PhaseContext, identity: JsonObject): JsonObject {
  const noted = identity['references'];
  if (!isJsonObject(noted ?? null)) return identity;
  const references = Object.fromEntries(
    Object.entries(noted as JsonObject).map(([id, mark]) => {
      const output = at.run.last.output(phasePath(at.scope, id));
      return [id, output ? outputMark(output) : mark];
    }),
  );
  return { ...identity, references };
}
