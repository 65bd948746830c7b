import type { Scheduler } from '../context/context.js';
import { runPhase } from './run-phase.js';
import { runScope } from './schedule.js';

/** What a run's context is made with. */
export const scheduler: Scheduler = {
  runScope,
  rerunPhase: async (run, { scope, id, round, signal }) => {
    const phase = scope.flow.phases.find((candidate) => candidate.id === id)!;
    const outcome = await runPhase({ run, scope, phase, round, signal, selected: 'run' });
    scope.outcomes.set(id, outcome);
    return outcome;
  },
};
