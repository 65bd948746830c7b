import type { PhaseContext } from '../context/phase-context.js';
import { isNewWork, type Settled } from '../core/execution.js';

/** For units that come after others of the same phase: iterations of a loop, levels of a tree, a judge. */
export function after<C extends PhaseContext>(at: C, earlier: Iterable<Settled>): C {
  if (at.newWork !== undefined) return at;
  for (const settled of earlier) if (isNewWork(settled)) return { ...at, newWork: at.path };
  return at;
}
