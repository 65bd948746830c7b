import type { Phase } from '../../model/flow.js';
import type { Settled } from '../execution.js';
import type { PhaseContext } from '../phase-context.js';

/** How phases of one kind are run: from rendering to the recorded result. One file per kind, listed in the registry. */
export interface KindHandler<P extends Phase> {
  run(at: PhaseContext<P>): Settled | Promise<Settled>;
}
