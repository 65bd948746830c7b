import type { Failure } from '../../model/failure.js';
import type { PhaseContext } from '../context/phase-context.js';
import { LOST_RACE } from '../core/cancelled.js';
import type { Execution } from '../core/execution.js';
import type { Effect } from '../journal/lines.js';
import { underWay } from './doubt.js';
import { hasSettled } from './settled.js';

/** A side effect on its way, from the line that allows it to the line that settles it. */
export interface Act {
  readonly id: string;
  ended(execution: Execution): void;
}

/** Nothing starts before this has returned one: its line is on the disk, and nobody else holds it. */
export function beginEffect(
  at: PhaseContext,
  { effect, unit, over }: { readonly effect: Effect; readonly unit?: string; readonly over?: string },
): Act | { readonly failure: Failure } {
  const { effects } = at.run;
  const taken = effects.take('start', effects.nameOf(at.path, effect.unit), over);
  if ('problem' in taken) return { failure: unwritable(at, taken.problem) };
  const fresh = at.run.prior.how === 'none';
  if ('by' in taken) return { failure: underWay({ path: at.path, unit, fresh }, taken.by) };
  return { id: taken.id, ended: (execution) => settle(at, taken.id, execution) };
}

/** What a person says is done is written down as that; what is in the way, otherwise. */
export function keepEffect(at: PhaseContext, effect: Effect, over: string | undefined): Failure | undefined {
  const { effects, prior } = at.run;
  const taken = effects.take('kept', effects.nameOf(at.path, effect.unit), over);
  if ('problem' in taken) return unwritable(at, taken.problem);
  return 'by' in taken ? underWay({ path: at.path, fresh: prior.how === 'none' }, taken.by) : undefined;
}

function settle(at: PhaseContext, id: string, execution: Execution): void {
  const { effects } = at.run;
  const wasLost = at.signal.reason === LOST_RACE;
  if (execution.attempts > 0 && !hasSettled(execution) && !wasLost) return;
  const problem = effects.settle(id, execution.status === 'done' ? 'done' : 'failed');
  if (problem === undefined) return;
  at.run.warn(`it cannot be written down how ${at.path} ended (${problem}): the next run will ask about it`);
}

function unwritable(at: PhaseContext, problem: string): Failure {
  return {
    code: 'io',
    message: `${at.path} is not idempotent, and its start cannot be written down (${problem}): it was not started`,
    hint: 'Make room, or make .pi/taskflows/runs writable; then run again.',
  };
}
