import type { ParallelPhase } from '../../model/flow.js';
import { fanOut } from './fan-out.js';
import type { KindHandler } from './kind.js';

export const parallelKind: KindHandler<ParallelPhase> = {
  run: (at) => {
    const { branches } = at.phase;
    const specs = branches.map((branch) => ({ label: branch.id, body: branch.body, cwd: branch.cwd }));
    return fanOut(at, specs, { names: branches.map(({ id }) => id) });
  },
};
