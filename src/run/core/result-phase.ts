import type { PhaseOutcome } from './execution.js';
import type { Scope } from './scope.js';

/**
 * The phase whose output is the result of a flow: its result phase or, where that one was left out by a condition, the
 * last one before it that is done.
 */
export function resultPhase({ flow, outcomes }: Pick<Scope, 'flow' | 'outcomes'>): PhaseOutcome | undefined {
  const wanted = outcomes.get(flow.result);
  if (wanted?.status !== 'skipped' || wanted.failure?.code === 'dependency') return wanted;
  const before = flow.phases.slice(
    0,
    flow.phases.findIndex(({ id }) => id === flow.result),
  );
  const done = before.findLast(({ id }) => outcomes.get(id)?.status === 'done');
  return (done && outcomes.get(done.id)) ?? wanted;
}
