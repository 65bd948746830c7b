import type { Identity } from '../../memo/identity.js';
import type { JsonObject } from '../../model/json.js';
import { NO_OUTPUT, NO_USAGE } from '../../model/outcome.js';
import { creatorOf } from '../../store/creator.js';
import type { Entry } from '../../store/store.js';
import { formatAgo, formatDuration } from '../../util/duration.js';
import type { PhaseContext } from '../context/phase-context.js';
import { savingsOf } from '../core/budget.js';
import { reportedReason } from '../core/cancelled.js';
import { type Execution, failedBefore, type Origin, pureResult, type Result, type Settled } from '../core/execution.js';
import type { Effect, ResultLine } from '../journal/lines.js';
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
  const { usage, durationMs } = execution;
  return {
    ...execution,
    cost: execution.cost ?? { usage, durationMs },
    key: found.key,
    runKey: found.runKey,
    hit: null,
    reason: reportedReason(at, execution, reason),
    execution: execution.execution ?? newExecution(at),
    effect: found.effect,
    identity: found.identity === undefined ? undefined : found.stored(),
    madeAt: at.run.options.project.clock.now(),
    // An execution may come from a part that was reused or kept; the whole was not.
    ageMs: undefined,
    kept: undefined,
  };
}

/** A name that no other execution has, in this project or elsewhere. */
function newExecution({ run, path }: PhaseContext): string {
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
function reused(result: Result, origin: Origin, { runKey, effect, identity }: Keys): Settled {
  const saved = savingsOf(result.cost);
  const now = { status: 'done', usage: NO_USAGE, durationMs: 0, attempts: 0, saved } as const;
  return { ...result, ...now, ...origin, runKey, effect, identity };
}

type Keys = Pick<Settled, 'runKey' | 'effect' | 'identity'>;

/** A result from the store. */
export function fromEntry(entry: KeptResult, { runKey }: Pick<Found, 'runKey'>, now: number): Settled {
  const { key, createdAt: madeAt, output, files, model, facts, usage, durationMs } = entry;
  const ageMs = Math.max(0, now - madeAt);
  const result = { key, madeAt, output, files, model, facts, cost: { usage, durationMs } };
  const origin = { hit: 'cross-run', ageMs, reason: `age ${formatDuration(ageMs)}` } as const;
  return reused({ ...result, execution: `${madeAt} ${key}` }, origin, { runKey });
}

type KeptResult = Pick<Entry, 'key' | 'output' | 'files' | 'model' | 'facts' | 'usage' | 'durationMs' | 'createdAt'>;

/** A result from the journal of this run or of the one that it continues. */
export function fromLine(at: PhaseContext, line: ResultLine): Settled {
  const { output, model, facts, key, execution, unkeepable, items, seen, usage, durationMs } = line;
  const { files = [], madeAt = line.at, cost = { usage, durationMs } } = line;
  const ageMs = ageOf(at, { madeAt });
  const reason = line.deciding ? 'decided in the run that is resumed' : `done ${formatAgo(ageMs)}`;
  const result = { key, madeAt, output, files, model, facts, cost, execution, unkeepable, items, seen };
  return reused(result, { hit: 'run', ageMs, reason }, line);
}

/** A result that this run made already, reused by another of its phases or rows. */
export function reusedAgain(at: PhaseContext, settled: Settled): Settled {
  const { hit, reason } = settled;
  const origin = hit === null ? { hit: 'run' as const, reason: 'computed once in this run' } : { hit, reason };
  return reused(settled, { ...origin, ageMs: ageOf(at, settled) }, settled);
}

function ageOf({ run }: PhaseContext, { madeAt }: Pick<Result, 'madeAt'>): number {
  return Math.max(0, run.options.project.clock.now() - madeAt);
}

/** The shorter of the phase's own ttl and that of what is inside. */
export function shortest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

export function entryOf(at: PhaseContext, found: Found, settled: Settled): Entry {
  return {
    format: 1,
    key: found.key,
    identity: found.stored(),
    createdAt: settled.madeAt,
    ttlMs: shortest(at.policy.ttlMs, found.ttlMs),
    creator: { ...creatorOf(at.run.options.project.env), client: settled.clientVersion },
    runId: at.run.runId,
    flow: at.scope.flow.name,
    phase: at.phase.id,
    output: settled.output,
    files: settled.files,
    model: settled.model,
    usage: settled.cost.usage,
    durationMs: settled.cost.durationMs,
    facts: settled.facts,
  };
}
