import type { ParallelPhase } from '../../model/flow.js';
import { fanOut, unitValue } from './fan-out.js';
import type { KindHandler } from './kind.js';

export const parallelKind: KindHandler<ParallelPhase> = {
  run: (at) => {
    const { branches } = at.phase;
    const specs = branches.map((branch) => ({ label: branch.id, body: branch.body, cwd: branch.cwd }));
    return fanOut(at, specs, (units) => ({
      text: units.map((unit, index) => `## ${branches[index]!.id}\n${unit.output.text}`).join('\n\n'),
      json: Object.fromEntries(units.map((unit, index) => [branches[index]!.id, unitValue(at, unit)])),
    }));
  },
};
