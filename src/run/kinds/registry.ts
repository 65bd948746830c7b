import type { Phase } from '../../model/flow.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Settled } from '../core/execution.js';
import { agentKind } from './agent.js';
import { approvalKind } from './approval.js';
import { expandKind } from './expand.js';
import { flowKind } from './flow.js';
import { gateKind } from './gate.js';
import type { KindHandler } from './kind.js';
import { loopKind } from './loop.js';
import { mapKind } from './map.js';
import { parallelKind } from './parallel.js';
import { raceKind } from './race.js';
import { reduceKind } from './reduce.js';
import { scriptKind } from './script.js';
import { tournamentKind } from './tournament.js';

/** The one place where a kind of the language meets the code that runs it. */
const HANDLERS: { readonly [K in Phase['kind']]: KindHandler<Extract<Phase, { kind: K }>> } = {
  agent: agentKind,
  script: scriptKind,
  parallel: parallelKind,
  map: mapKind,
  reduce: reduceKind,
  gate: gateKind,
  approval: approvalKind,
  flow: flowKind,
  loop: loopKind,
  tournament: tournamentKind,
  race: raceKind,
  expand: expandKind,
};

export function runKind(at: PhaseContext): Settled | Promise<Settled> {
  const handler = HANDLERS[at.phase.kind] as KindHandler<Phase>;
  return handler.run(at);
}
