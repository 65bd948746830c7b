import type { Phase } from '../../model/flow.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Settled } from '../core/execution.js';

/** How phases of one kind are run: from rendering to the recorded result. One file per kind, listed in the registry. */
export interface KindHandler<P extends Phase> {
  run(at: PhaseContext<P>): Settled | Promise<Settled>;
}
