import type { Failure } from '../../model/failure.js';
import type { Phase } from '../../model/flow.js';
import { NO_OUTPUT, NO_USAGE, type PhaseOutcome, type Status } from '../../model/outcome.js';
import { nextTurn } from '../../util/timer.js';
import { isLongTurn } from '../../util/turn.js';
import type { RunContext } from '../context/context.js';
import { type PhaseContext, phaseContext } from '../context/phase-context.js';
import { failedBefore } from '../core/execution.js';
import type { Scope } from '../core/scope.js';
import { hasBegun } from '../effects/at-start.js';
import { outcomeOf, recordUnrun, shownOutcome } from '../journal/record.js';
import { settleComposite } from '../kinds/aggregate.js';
import { runKind } from '../kinds/registry.js';
import { evaluateText } from '../render/conditions.js';
import { restored, type Selected } from './selection.js';

export interface PhaseRun {
  readonly run: RunContext;
  readonly scope: Scope;
  readonly phase: Phase;
  readonly round: number;
  readonly signal: AbortSignal;
  /** What a partial run wants of this phase. */
  readonly selected: Selected;
}

/** The whole life of a phase whose dependencies are settled: is it wanted, does its condition hold, run it, report. */
export async function runPhase({ run, scope, phase, round, signal, selected }: PhaseRun): Promise<PhaseOutcome> {
  // Thousands of reused phases end without ever waiting: other work needs its turn.
  if (isLongTurn()) await nextTurn();
  const at = phaseContext({ run, scope, phase, round, signal });
  if (selected === 'restore') return reported(at, await restored(at));
  if (selected === 'leave') return unrun(at, { status: 'skipped', reason: 'not selected' });
  // A skipped side effect that has begun is recorded as done: no later run may do it again.
  if (selected === 'skip' && !hasBegun(at)) return unrun(at, { status: 'skipped', reason: '--skip' });
  if (phase.when !== undefined) {
    const held = await evaluateText(at, phase.when);
    if ('failure' in held) return reported(at, outcomeOf(at, settleComposite(at, failedBefore(held.failure), 'when')));
    if (!held.value) return unrun(at, { status: 'skipped', reason: `when: ${phase.when} does not hold` });
  }
  const settled = await runKind(at);
  return reported(at, outcomeOf(at, settled));
}

/** Why a phase does not run, and what it ends as. */
export interface NotRun {
  readonly status: Extract<Status, 'skipped' | 'cancelled' | 'failed'>;
  readonly reason: string;
  readonly failure?: Failure;
}

/** Records and reports a phase that does not run. */
export function unrun(at: PhaseContext, { status, reason, failure }: NotRun): PhaseOutcome {
  recordUnrun(at, { status, reason, failure });
  return reported(at, {
    id: at.phase.id,
    kind: at.phase.kind,
    status,
    cacheHit: null,
    reason,
    output: NO_OUTPUT,
    files: [],
    attempts: 0,
    durationMs: 0,
    usage: NO_USAGE,
    newWork: at.newWork,
    ...(failure && { failure }),
  });
}

function reported(at: PhaseContext, outcome: PhaseOutcome): PhaseOutcome {
  at.run.io.emit({ type: 'phase-end', phase: at.path, outcome: shownOutcome(outcome, at.run.options.project.root) });
  return outcome;
}
