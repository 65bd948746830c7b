import type { Failure } from '../../model/failure.js';
import type { PhaseContext } from '../context/phase-context.js';
import { LOST_RACE } from '../core/cancelled.js';
import type { Execution } from '../core/execution.js';
import type { Effect } from '../journal/lines.js';
import { underWay } from './doubt.js';
import { hasSettled } from './settled.js';

/** A side effect under way, from the ledger's line that grants it to the line that settles it. */
export interface Act {
  readonly id: string;
  ended(execution: Execution): void;
}

/** Claims a side effect before it starts: its line is on disk, and no other run holds it. */
export function beginEffect(
  at: PhaseContext,
  { effect, unit, over }: { readonly effect: Effect; readonly unit?: string; readonly over?: string },
): Act | { readonly failure: Failure } {
  const {
    reuse: { effects },
  } = at.run;
  const claim = effects.claim('start', effects.nameOf(at.path, effect.unit), over);
  if ('problem' in claim) return { failure: unwritable(at, claim.problem) };
  const fresh = at.run.reuse.prior.how === 'none';
  if ('by' in claim) return { failure: underWay({ path: at.path, unit, fresh }, claim.by) };
  return { id: claim.id, ended: (execution) => settle(at, claim.id, execution) };
}

/** Records that a person marked it as done; returns what prevents that. */
export function keepEffect(at: PhaseContext, effect: Effect, over: string | undefined): Failure | undefined {
  const {
    reuse: { effects, prior },
  } = at.run;
  const claim = effects.claim('kept', effects.nameOf(at.path, effect.unit), over);
  if ('problem' in claim) return unwritable(at, claim.problem);
  return 'by' in claim ? underWay({ path: at.path, fresh: prior.how === 'none' }, claim.by) : undefined;
}

function settle(at: PhaseContext, id: string, execution: Execution): void {
  const {
    reuse: { effects },
  } = at.run;
  const wasLost = at.signal.reason === LOST_RACE;
  if (execution.attempts > 0 && !hasSettled(execution) && !wasLost) return;
  const problem = effects.settle(id, execution.status === 'done' ? 'done' : 'failed');
  if (problem === undefined) return;
  at.run.io.warn(`it cannot be written down how ${at.path} ended (${problem}): the next run will ask about it`);
}

function unwritable(at: PhaseContext, problem: string): Failure {
  return {
    code: 'io',
    message: `${at.path} is not idempotent, and its start cannot be written down (${problem}): it was not started`,
    hint: 'Make room, or make .pi/taskflows/runs writable; then run again.',
  };
}
