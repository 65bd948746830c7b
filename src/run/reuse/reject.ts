import type { PhaseContext } from '../context/phase-context.js';
import { phasePath } from '../core/scope.js';

/** What turned out to be no good must not be served to anyone again: the next run makes it anew. */
export function rejectResults({ run, scope }: PhaseContext, phases: Iterable<string>): void {
  if (run.options.forecast) return;
  for (const id of phases) {
    const outcome = scope.outcomes.get(id);
    if (outcome?.status !== 'done') continue;
    const keys = outcome.keys;
    for (const key of keys) {
      run.reuse.store?.remove(key);
      run.reuse.shared.forget(key);
    }
    run.io.journal.write({ type: 'rejected', at: run.options.project.clock.now(), phase: phasePath(scope, id), keys });
  }
}
