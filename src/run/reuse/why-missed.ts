import { changeSummary, explainChange } from '../../memo/explain.js';
import { isJsonObject, type JsonObject } from '../../model/json.js';
import type { Status } from '../../model/outcome.js';
import type { PhaseContext } from '../context/phase-context.js';
import { phasePath } from '../core/scope.js';
import type { LastResult } from '../history/last-run.js';
import { outputMark } from './identify.js';
import type { Found } from './settle.js';

/** The work that has no result to reuse. */
type Wanted = Pick<Found, 'key' | 'stored'>;

/** It was never executed, and the store has nothing like it. */
const FIRST_TIME = 'first time';
/** A phase that is kept within its run only executes in each new run. */
const NEW_RUN = 'new run';
/** The last run had the same result, and the store has lost it. */
const CLEARED = 'cleared or evicted since';
/** The last run executed the same, and it is not known that the store ever had the result. */
const NOT_KEPT = 'not in the store';

/** Why work executes: what speaks against the result that is there, else what a person asked, else what changed. */
export function whyMissed(
  at: PhaseContext,
  found: Wanted,
  { unit, refused }: { readonly unit: string | undefined; readonly refused: string | undefined },
): string {
  const { policy } = at;
  if (refused !== undefined) return refused;
  if (policy.because !== undefined) return policy.because;
  const earlier = earlierResult(at, unit);
  if (policy.scope !== 'cross-run') return whyNotContinued(at, earlier, found);
  if (earlier?.key === found.key) {
    if (earlier.status !== 'done') return endedAs(earlier.status);
    return earlier.wasKept ? CLEARED : NOT_KEPT;
  }
  return (
    whatChanged(at, earlier, found) ?? at.run.reuse.kept.difference(found.stored(), isOneOfMany(at, unit)) ?? FIRST_TIME
  );
}

/** Items, branches and rows. */
function isOneOfMany({ scope: { path } }: PhaseContext, unit: string | undefined): boolean {
  return unit !== undefined || path.startsWith('rows/') || path.includes('[');
}

/** The same for a phase without an identity of its own: it is entered, and its parts say more. */
export function whyEntered(at: PhaseContext): string {
  const { policy, run } = at;
  if (policy.because !== undefined) return policy.because;
  const earlier = earlierResult(at, undefined);
  if (!earlier) return FIRST_TIME;
  if (policy.scope !== 'cross-run' && run.reuse.prior.how === 'none') return NEW_RUN;
  return earlier.status === 'done' ? 'not all of it could be reused' : endedAs(earlier.status);
}

/** For work that is kept within its run only: why the continued run, if there is one, has no result of it. */
function whyNotContinued(at: PhaseContext, earlier: LastResult | undefined, found: Wanted): string {
  const { how } = at.run.reuse.prior;
  if (!earlier) return how === 'checkpoint' ? 'not in the checkpoint' : FIRST_TIME;
  if (how === 'none') return NEW_RUN;
  if (earlier.status !== 'done') return endedAs(earlier.status);
  const above = at.newWork === undefined ? undefined : `${at.newWork} ran again`;
  return whatChanged(at, earlier, found) ?? above ?? 'no result to continue';
}

/** From the checkpoint, which may come from another machine, else from the last run here. */
function earlierResult({ run, path }: PhaseContext, unit: string | undefined): LastResult | undefined {
  const line = run.reuse.prior.how === 'checkpoint' && unit === undefined ? run.reuse.prior.ofPhase(path) : undefined;
  if (line?.identity)
    return { key: line.key, status: line.status, identity: line.identity, wasReused: false, wasKept: false };
  return run.reuse.last.of(path, unit);
}

function whatChanged(at: PhaseContext, earlier: LastResult | undefined, found: Wanted): string | undefined {
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
      return 'waited last time';
    default:
      return `${status} last time`;
  }
}

/**
 * An identity that the last run reused holds the outputs it quoted when it was made. The last run's own outputs may
 * differ (a list with one more item), and this run is compared with those.
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
