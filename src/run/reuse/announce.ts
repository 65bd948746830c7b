import type { Failure } from '../../model/failure.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Execution } from '../core/execution.js';
import { type Act, beginEffect } from '../effects/act.js';
import { journalStart } from '../execute/start-line.js';
import type { Found } from './settle.js';

/**
 * `begin` reports and journals that an execution has begun, or returns why it may not. Work that waits for a slot has
 * not begun: if the process dies there, no side effect is in doubt.
 */
export function announce(
  at: PhaseContext,
  { unit, beginsItself }: { readonly unit?: string; readonly beginsItself?: true },
  { runKey, reason, effect, over }: Partial<Found> & { readonly reason: string },
): { begin(): Failure | undefined; ended(execution: Execution): Execution } {
  let begun = false;
  let act: Act | undefined;
  const begin = () => {
    if (begun) return undefined;
    begun = true;
    const begins = effect && beginEffect(at, { effect, unit, over });
    if (begins && 'failure' in begins) return begins.failure;
    act = begins;
    journalStart(at, { unit, runKey, reason, effect: act?.id });
    if (unit === undefined) at.run.io.emit({ type: 'phase-start', phase: at.path, reason });
    return undefined;
  };
  if (beginsItself !== true) begin();
  return {
    begin,
    ended: (execution) => {
      act?.ended(execution);
      return execution;
    },
  };
}
