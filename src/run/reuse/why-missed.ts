import { changeSummary, explainChange } from '../../memo/explain.js';
import type { Identity } from '../../memo/identity.js';
import { isJsonObject, type JsonObject } from '../../model/json.js';
import type { Status } from '../../model/outcome.js';
import type { PhaseContext } from '../context/phase-context.js';
import { phasePath } from '../core/scope.js';
import type { LastResult } from '../history/last-run.js';
import { outputMark } from './identify.js';

/** Nothing of it was ever done or kept. */
const FIRST_TIME = 'first time';
/** A phase that is kept within its run only is executed in each new one. */
const NEW_RUN = 'new run';
/** The same was done in the last run, and the store has it no more. */
const CLEARED = 'cleared or evicted since';

/**
 * Why work is executed: because somebody says so, because of what spoke against the result that was there, else because
 * of what changed since it was last done.
 */
export function whyMissed(
  at: PhaseContext,
  unit: string | undefined,
  found: { readonly identity: Identity; readonly key: string; stored(): JsonObject },
  refused: string | undefined,
): string {
  const { policy } = at;
  if (refused !== undefined) return refused;
  if (policy.because !== undefined) return policy.because;
  const earlier = earlierResult(at, unit);
  if (policy.scope !== 'cross-run') return whyNotContinued(at, earlier, found);
  if (earlier?.key === found.key) return earlier.status === 'done' ? CLEARED : endedAs(earlier.status);
  return (
    whatChanged(at, earlier, found) ?? at.run.reuse.kept.difference(found.stored(), isOneOfMany(at, unit)) ?? FIRST_TIME
  );
}

/** Items, branches and rows. */
function isOneOfMany({ scope: { path } }: PhaseContext, unit: string | undefined): boolean {
  return unit !== undefined || path.startsWith('rows/') || path.includes('[');
}

/** The same of a phase that has no identity of its own: it is entered, and its parts say more. */
export function whyEntered(at: PhaseContext): string {
  const { policy, run } = at;
  if (policy.because !== undefined) return policy.because;
  const earlier = earlierResult(at, undefined);
  if (!earlier) return FIRST_TIME;
  if (policy.scope !== 'cross-run' && run.reuse.prior.how === 'none') return NEW_RUN;
  return earlier.status === 'done' ? 'not all of it could be reused' : endedAs(earlier.status);
}

/** Of work that is kept within its run only: the run that is continued, if one is, has no result of it to take. */
function whyNotContinued(
  at: PhaseContext,
  earlier: LastResult | undefined,
  found: Parameters<typeof whyMissed>[2],
): string {
  const { how } = at.run.reuse.prior;
  if (!earlier) return how === 'checkpoint' ? 'not in the checkpoint' : FIRST_TIME;
  if (how === 'none') return NEW_RUN;
  if (earlier.status !== 'done') return endedAs(earlier.status);
  return whatChanged(at, earlier, found) ?? 'no result to continue';
}

/** A checkpoint may come from elsewhere, so that no run here says anything; else the last run knows. */
function earlierResult({ run, path }: PhaseContext, unit: string | undefined): LastResult | undefined {
  const line = run.reuse.prior.how === 'checkpoint' && unit === undefined ? run.reuse.prior.ofPhase(path) : undefined;
  if (line?.identity) return { key: line.key, status: line.status, identity: line.identity, wasReused: false };
  return run.reuse.last.of(path, unit);
}

function whatChanged(
  at: PhaseContext,
  earlier: LastResult | undefined,
  found: Parameters<typeof whyMissed>[2],
): string | undefined {
  if (earlier?.identity === undefined) return undefined;
  const changes = explainChange(found.stored(), earlier.wasReused ? asOfThen(at, earlier.identity) : earlier.identity);
  return changes.length === 0 ? undefined : changeSummary(changes);
}

function endedAs(status: Status): string {
  switch (status) {
    case 'done':
      return 'no result to continue';
    case 'failed':
      return 'failed last time';
    case 'cancelled':
      return 'not run last time';
    case 'paused':
      return 'waited for an approval last time';
    default:
      return `${status} last time`;
  }
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
      const output = at.run.reuse.last.output(phasePath(at.scope, id));
      return [id, output ? outputMark(output) : mark];
    }),
  );
  return { ...identity, references };
}
