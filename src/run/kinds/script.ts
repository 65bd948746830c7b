import type { ScriptPhase } from '../../model/flow.js';
import { runAsPhase } from '../units/run-unit.js';
import type { KindHandler } from './kind.js';

export const scriptKind: KindHandler<ScriptPhase> = {
  run: (at) => runAsPhase(at, { body: at.phase.body }),
};
