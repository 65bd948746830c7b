import type { Failure } from '../../model/failure.js';
import type { Phase } from '../../model/flow.js';
import type { RunContext } from '../context/context.js';
import { phaseContext } from '../context/phase-context.js';
import type { Scope } from '../core/scope.js';
import { stopsAtStart } from '../effects/at-start.js';
import { selectPhases } from './selection.js';

/** Side effects that a run which starts afresh will not get past, known before anything is spent. */
export function stopsOf(run: RunContext, scope: Scope): { readonly phase: Phase; readonly failure: Failure }[] {
  const effects = scope.flow.phases.filter(({ idempotent }) => !idempotent);
  if (effects.length === 0) return [];
  const select = selectPhases(scope, run.options.selection);
  return effects.flatMap((phase) => {
    const failure = select(phase.id) === 'run' ? stopsAtStart(phaseContext({ run, scope, phase })) : undefined;
    return failure ? [{ phase, failure }] : [];
  });
}
