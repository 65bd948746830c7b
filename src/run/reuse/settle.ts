import type { Identity } from '../../memo/identity.js';
import type { Failure } from '../../model/failure.js';
import type { JsonObject } from '../../model/json.js';
import { NO_OUTPUT, type Origin, type Result, type Status } from '../../model/outcome.js';
import { formatAgo, formatDuration } from '../../util/duration.js';
import type { PhaseContext } from '../context/phase-context.js';
import { savingsOf } from '../core/budget.js';
import { reportedReason } from '../core/cancelled.js';
import { type Execution, failedBefore, NOT_EXECUTED, pureResult, type Settled, settle } from '../core/execution.js';
import type { Effect, ResultLine } from '../journal/lines.js';
import { resultIn } from '../journal/record.js';
import type { Probe } from './identify.js';

/** Work with an identity: its result can be found again. */
export interface Found {
  readonly identity: Identity;
  readonly key: string;
  readonly runKey: string;
  readonly probes: readonly Probe[];
  /** The shortest ttl of what is inside; it bounds the whole. */
  readonly ttlMs?: number;
  /** It cannot read files, so its key says all. */
  readonly closed?: true;
  /** Set for a side effect; `over` names the earlier start that doing it again replaces. */
  readonly effect?: Effect;
  readonly over?: string;
  stored(): JsonObject;
}

/** A found side effect: it is done once. */
export type SideEffect = Found & { readonly effect: Effect };

export function isSideEffect(found: Found): found is SideEffect {
  return found.effect !== undefined;
}

/** A person says that the side effect took place. Its output is known if the journal has its end. */
export function markedDone(line: ResultLine | undefined, more: Partial<Execution>): Execution {
  return pureResult(line?.output ?? NO_OUTPUT, { attempts: 0, noWork: true, files: line?.files ?? [], ...more });
}

/** An execution of this run, with the keys that find it again. */
export function ran(
  at: PhaseContext,
  found: Found,
  { execution, reason }: { readonly execution: Execution; readonly reason: string },
): Settled {
  const { key, runKey, effect } = found;
  const madeAt = at.run.options.project.clock.now();
  const origin = { hit: null, reason: reportedReason(at, execution, reason) };
  const name = execution.execution ?? newExecution(at);
  return settle(execution, origin, { key, madeAt, execution: name, runKey, effect, identity: found.stored() });
}

/** Work without an identity: nothing finds it again. It is reused if all of its parts were. */
export function unidentified(at: PhaseContext, execution: Execution, reason: string): Settled {
  const from = execution.reused ?? { hit: null };
  const madeAt = at.run.options.project.clock.now() - (from.ageMs ?? 0);
  return settle(execution, { ...from, reason: reportedReason(at, execution, reason) }, { madeAt });
}

/** Why a phase does not run, and what it ends as. */
export interface NotRun {
  readonly status: Extract<Status, 'skipped' | 'cancelled' | 'failed'>;
  readonly reason: string;
  readonly failure?: Failure;
}

/** A phase that does not run has an empty result. */
export function notExecuted(at: PhaseContext, { status, reason, failure }: NotRun): Settled {
  const madeAt = at.run.options.project.clock.now();
  const result = { madeAt, output: NO_OUTPUT, files: [], cost: NOT_EXECUTED };
  return { ...NOT_EXECUTED, status, failure, result, origin: { hit: null, reason } };
}

/** A name that no other execution has, in this project or elsewhere. */
export function newExecution({ run, path }: PhaseContext): string {
  run.limits.executions.count += 1;
  return `${run.runId} ${path} ${run.limits.executions.count}`;
}

export function frozen(at: PhaseContext, reason: string): Execution {
  return failedBefore({
    code: 'frozen',
    message: `--frozen: ${at.path} would have to run (${reason})`,
    hint: 'Run it without --frozen, or bring the cache that has it (`taskflow cache import`).',
  });
}

/** A reused result: nothing was spent now. */
function reused(result: Result, origin: Origin, { runKey, effect }: Keys): Settled {
  const saved = savingsOf(result.cost);
  const { usage, durationMs, attempts } = NOT_EXECUTED;
  return { status: 'done', usage, durationMs, attempts, saved, result, origin, runKey, effect };
}

type Keys = Pick<Settled, 'runKey' | 'effect'>;

/** A result from the store. */
export function fromStore(result: Result, { runKey }: Pick<Found, 'runKey'>, now: number): Settled {
  const ageMs = Math.max(0, now - result.madeAt);
  return reused(result, { hit: 'cross-run', ageMs, reason: `age ${formatDuration(ageMs)}` }, { runKey });
}

/** A result from the journal of this run or of the one that it continues. */
export function fromLine(at: PhaseContext, line: ResultLine): Settled {
  const result = resultIn(line);
  const ageMs = ageOf(at, result);
  const reason = line.deciding ? 'decided in the run that is resumed' : `done ${formatAgo(ageMs)}`;
  return reused(result, { hit: 'run', ageMs, reason }, line);
}

/** A result that this run made already, reused by another of its phases or rows. */
export function reusedAgain(at: PhaseContext, settled: Settled): Settled {
  const { result, origin } = settled;
  const { hit, reason } = origin.hit === null ? COMPUTED_ONCE : origin;
  return reused(result, { hit, ageMs: ageOf(at, result), reason }, settled);
}

const COMPUTED_ONCE = { hit: 'run', reason: 'computed once in this run' } as const;

export function ageOf({ run }: PhaseContext, { madeAt }: Pick<Result, 'madeAt'>): number {
  return Math.max(0, run.options.project.clock.now() - madeAt);
}

/** The shorter of the phase's own ttl and that of what is inside. */
export function shortest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}
