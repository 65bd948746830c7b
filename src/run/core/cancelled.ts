import type { Failure } from '../../model/failure.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Execution } from './execution.js';

/** Why work that has not begun will not begin: other work failed, not this. */
export function notStarted(at: Pick<PhaseContext, 'scope'>): Failure {
  const { closed } = at.scope.admission;
  if (closed?.code === 'budget') return closed;
  return { code: 'interrupted', message: closed ? `not started: ${closed.message}` : 'interrupted' };
}

/** Why the engine stops a branch of a race: the flow wants that, so no side effect is in doubt. */
export const LOST_RACE = 'another branch has won';

/**
 * The reported reason of an execution: why it ran (`reason`) or, if it was stopped, why. A dry run stops everything,
 * and reports why it would run.
 */
export function reportedReason(at: PhaseContext, { status, failure }: Execution, reason: string): string {
  if (status !== 'cancelled' || failure?.code === 'forecast') return reason;
  const {
    limits: { signal },
  } = at.run;
  // A stopped process or agent does not know who stopped it; the run does.
  if (signal.aborted && failure?.message === 'interrupted') return (signal.reason as Failure).message;
  return failure?.message ?? 'interrupted';
}
