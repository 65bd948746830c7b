import type { Failure } from '../../model/failure.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Execution } from './execution.js';

/** Why work that has not begun does not begin any more: whatever it was, it is not this work that failed. */
export function notStarted(at: Pick<PhaseContext, 'scope'>): Failure {
  const { closed } = at.scope.admission;
  if (closed?.code === 'budget') return closed;
  return { code: 'interrupted', message: closed ? `not started: ${closed.message}` : 'interrupted' };
}

/** Why a branch of a race is ended: the flow itself says so, and nobody is in doubt about it. */
export const LOST_RACE = 'another branch has won';

/**
 * What is told of an execution: why it ran, or, if it was stopped, why it was. `reason` is the former; a dry run stops
 * everything, and means that one.
 */
export function reasonTold(at: PhaseContext, { status, failure }: Execution, reason: string): string {
  if (status !== 'cancelled' || failure?.code === 'forecast') return reason;
  const {
    limits: { signal },
  } = at.run;
  // A process or an agent that was ended does not know by whom; the run does.
  if (signal.aborted && failure?.message === 'interrupted') return (signal.reason as Failure).message;
  return failure?.message ?? 'interrupted';
}
