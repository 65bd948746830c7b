import type { AgentPhase } from '../../model/flow.js';
import { runAsPhase } from '../units/run-unit.js';
import type { KindHandler } from './kind.js';

export const agentKind: KindHandler<AgentPhase> = {
  run: (at) => runAsPhase(at, { body: at.phase.body }),
};
