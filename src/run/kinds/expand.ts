import type { ExpandPhase } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import { renderValue } from '../render.js';
import { unresolvedIn } from '../unresolved.js';
import { runSource } from './flow.js';
import type { KindHandler } from './kind.js';

export const expandKind: KindHandler<ExpandPhase> = {
  run: (at) => {
    const given = renderValue(at, at.phase.with ?? {});
    const { failure, unkeepable } = unresolvedIn(at, given.unresolved);
    return runSource(at, at.phase.source, (flow) => {
      if (failure) return { failure };
      const { maxNodes, mode } = at.phase;
      if (flow.phases.length > maxNodes) {
        return {
          failure: {
            code: 'limit',
            message: `the fragment has ${flow.phases.length} phases, more than maxNodes (${maxNodes})`,
          },
        };
      }
      return { with: given.value as JsonObject, unkeepable, graft: mode === 'graft' };
    });
  },
};
