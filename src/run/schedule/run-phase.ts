import type { Phase } from '../../model/flow.js';
import { nextTurn } from '../../util/timer.js';
import { isLongTurn } from '../../util/turn.js';
import type { RunContext } from '../context/context.js';
import { type PhaseContext, phaseContext } from '../context/phase-context.js';
import { failedBefore, type PhaseOutcome, type Settled } from '../core/execution.js';
import type { Scope } from '../core/scope.js';
import { hasBegun } from '../effects/at-start.js';
import { outcomeOf, recordUnrun, shownOutcome } from '../journal/record.js';
import { settleComposite } from '../kinds/aggregate.js';
import { runKind } from '../kinds/registry.js';
import { evaluateText } from '../render/conditions.js';
import { type NotRun, notExecuted } from '../reuse/settle.js';
import { restored, type Selected } from './selection.js';

interface PhaseRun {
  readonly run: RunContext;
  readonly scope: Scope;
  readonly phase: Phase;
  readonly round: number;
  readonly signal: AbortSignal;
  /** What a partial run wants of this phase. */
  readonly selected: Selected;
}

/**
 * The whole life of a phase whose dependencies are settled: is it wanted, does its condition hold, run it, report.
 * Without a promise where nothing has to be awaited, as for most phases of a warm run.
 */
export function runPhase(toRun: PhaseRun): PhaseOutcome | Promise<PhaseOutcome> {
  // Thousands of reused phases end without ever waiting: other work needs its turn.
  return isLongTurn() ? nextTurn().then(() => enter(toRun)) : enter(toRun);
}

function enter(toRun: PhaseRun): PhaseOutcome | Promise<PhaseOutcome> {
  const { selected } = toRun;
  const at = phaseContext(toRun);
  if (selected === 'restore') return restored(at).then((outcome) => reported(at, outcome));
  if (selected === 'leave') return unrun(at, { status: 'skipped', reason: 'not selected' });
  // A skipped side effect that has begun is recorded as done: no later run may do it again.
  if (selected === 'skip' && !hasBegun(at)) return unrun(at, { status: 'skipped', reason: '--skip' });
  return at.phase.when === undefined ? run(at) : runIf(at, at.phase.when);
}

async function runIf(at: PhaseContext, when: string): Promise<PhaseOutcome> {
  const held = await evaluateText(at, when);
  if ('failure' in held) return reported(at, outcomeOf(at, settleComposite(at, failedBefore(held.failure), 'when')));
  return held.value ? run(at) : unrun(at, { status: 'skipped', reason: `when: ${when} does not hold` });
}

function run(at: PhaseContext): PhaseOutcome | Promise<PhaseOutcome> {
  const end = (settled: Settled) => reported(at, outcomeOf(at, settled));
  const pending = runKind(at);
  return pending instanceof Promise ? pending.then(end) : end(pending);
}

/** Records and reports a phase that does not run. */
export function unrun(at: PhaseContext, why: NotRun): PhaseOutcome {
  const settled = notExecuted(at, why);
  recordUnrun(at, settled);
  return reported(at, outcomeOf(at, settled));
}

function reported(at: PhaseContext, outcome: PhaseOutcome): PhaseOutcome {
  at.run.io.emit({ type: 'phase-end', phase: at.path, outcome: shownOutcome(outcome, at.run.options.project.root) });
  return outcome;
}
