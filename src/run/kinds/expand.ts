import type { ExpandPhase } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import { isReadInside } from '../core/grafted.js';
import { renderValue } from '../render/render.js';
import { unresolvedIn } from '../render/unresolved.js';
import { refuse, runSource } from './flow.js';
import type { KindHandler } from './kind.js';

export const expandKind: KindHandler<ExpandPhase> = {
  run: async (at) => {
    const { maxNodes, mode } = at.phase;
    const given = renderValue(at, at.phase.with ?? {});
    const { failure, unkeepable } = unresolvedIn(at, given.unresolved);
    if (failure) return refuse(at, failure);
    const graft = mode === 'graft';
    const readInside = graft && isReadInside(at.scope.flow, at.phase.id);
    const spec = { with: given.value as JsonObject, unkeepable, graft, readInside };
    return runSource(at, spec, ({ phases }) =>
      phases.length <= maxNodes
        ? undefined
        : { code: 'limit', message: `the fragment has ${phases.length} phases, more than maxNodes (${maxNodes})` },
    );
  },
};
