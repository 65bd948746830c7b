import type { ExpandPhase } from '../../model/flow.js';
import { runSource } from './flow.js';
import type { KindHandler } from './kind.js';

export const expandKind: KindHandler<ExpandPhase> = {
  run: (at) =>
    runSource(at, at.phase.source, (flow) => {
      const { maxNodes, mode } = at.phase;
      if (flow.phases.length > maxNodes) {
        return {
          failure: {
            code: 'limit',
            message: `the fragment has ${flow.phases.length} phases, more than maxNodes (${maxNodes})`,
          },
        };
      }
      return { with: {}, graft: mode === 'graft' };
    }),
};
