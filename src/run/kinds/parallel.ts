import type { ParallelPhase } from '../../model/flow.js';
import type { Settled } from '../core/execution.js';
import { fanOut, unitValue } from './fan-out.js';
import type { KindHandler } from './kind.js';

export const parallelKind: KindHandler<ParallelPhase> = {
  run: (at) => {
    const { branches } = at.phase;
    const specs = branches.map((branch) => ({ label: branch.id, body: branch.body, cwd: branch.cwd }));
    const combine = (units: readonly Settled[]) => ({
      text: units.map((unit, index) => `## ${branches[index]!.id}\n${unit.output.text}`).join('\n\n'),
      json: Object.fromEntries(units.map((unit, index) => [branches[index]!.id, unitValue(at, unit)])),
    });
    return fanOut(at, specs, { combine });
  },
};
