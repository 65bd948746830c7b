import { strongKey } from '../../memo/identity.js';
import type { Failure } from '../../model/failure.js';
import type { JsonObject } from '../../model/json.js';
import type { Kind } from '../../model/kind.js';
import {
  type Acted,
  type Cost,
  type Ending,
  NO_OUTPUT,
  NO_USAGE,
  type Origin,
  type Output,
  type Result,
} from '../../model/outcome.js';
import type { Effect } from '../journal/lines.js';

/** What executing something came to, before it is anybody's result. */
export interface Execution extends Ending, Omit<Result, 'madeAt' | 'cost'> {
  readonly status: 'done' | 'failed' | 'blocked' | 'paused' | 'cancelled';
  /** The cost if no part of it had been reused, which reusing all of it saves. Absent where there are no parts. */
  readonly cost?: Cost;
  /** Everything in it was reused: the youngest part's age, and from where. */
  readonly reused?: Omit<Origin, 'reason'>;
}

/** A unit or a phase that has ended: its result, where that came from, and what this run did for it. */
export interface Settled extends Ending {
  readonly result: Result;
  readonly origin: Origin;
  readonly runKey?: string;
  /** Set for a side effect. */
  readonly effect?: Effect;
  /** Of what was just made, until the journal has it. */
  identity?: JsonObject;
  /** Until the journal has it; of what did not end well, for longer. */
  inputs?: JsonObject;
  /** It was just made, and the store has it for later runs. */
  kept?: true;
}

/** How one phase of a flow ended: what it settled as, with what others ask most under the same names, and its place. */
export interface PhaseOutcome extends Pick<Settled, 'status' | 'failure' | 'result' | 'origin'> {
  readonly id: string;
  readonly kind: Kind;
  readonly settled: Settled;
  /** It did not succeed, but is optional: the run goes on without it. */
  readonly optional?: true;
  /** Every key that finds it, or a part of it, again. A side effect has none: it stays done if a gate rejects it. */
  readonly keys: readonly string[];
  /** Its result can be found again by a later run: what follows it in order may be, too. */
  readonly findable?: true;
  /** The phase, or something inside of it, is not idempotent, and has begun. */
  readonly acted?: Acted;
  /** The phase at or above this one that executed in this run: what reads files that nobody declared follows it. */
  readonly newWork?: string;
  /** In a row or an item: what was done there up to here, as one digest. */
  readonly done?: string;
}

/** What an execution does not know of itself: when it ended, and what finds it again. */
type Made = Pick<Result, 'madeAt' | 'key' | 'execution'> & Pick<Settled, 'runKey' | 'effect' | 'identity'>;

/** Ends an execution: its result is made here, one time, and with all its fields: copies and rests cost far more. */
export function settle(ended: Execution, origin: Origin, made: Made): Settled {
  const { usage, durationMs, output, files, model, facts, items, unkeepable, seen } = ended;
  const { key = ended.key, execution = ended.execution, madeAt, runKey, effect, identity } = made;
  const cost = ended.cost ?? { usage, durationMs };
  return {
    status: ended.status,
    usage,
    durationMs,
    attempts: ended.attempts,
    saved: ended.saved,
    failure: ended.failure,
    remark: ended.remark,
    noWork: ended.noWork,
    pure: ended.pure,
    acted: ended.acted,
    unitKeys: ended.unitKeys,
    inputs: ended.inputs,
    clientVersion: ended.clientVersion,
    observed: ended.observed,
    origin,
    result: { key, madeAt, output, cost, files, model, facts, items, unkeepable, seen, execution },
    runKey,
    effect,
    identity,
    kept: undefined,
  };
}

/** A phase ends as one of its units did. */
export function endedAs({ status, failure, attempts, inputs, acted, result }: Settled): Execution {
  const { output, files, model } = result;
  const ended = status === 'skipped' || status === 'done' ? 'failed' : status;
  return { status: ended, failure, attempts, inputs, acted, usage: NO_USAGE, durationMs: 0, output, files, model };
}

/** It ran in this run, and may have changed files. */
export function isNewWork({ origin, attempts, noWork, pure }: Settled): boolean {
  return origin.hit === null && attempts > 0 && !noWork && !pure;
}

/** Every key that finds a result, or a part of it, again. */
export function keysOf(settled: Settled): readonly string[] {
  const keys: string[] = [];
  addKeys(keys, settled);
  return keys;
}

export function addKeys(keys: string[], { result: { key, seen }, runKey, unitKeys }: Settled): void {
  if (key !== undefined) keys.push(key);
  if (key !== undefined && seen) keys.push(strongKey(key, seen.value));
  if (runKey !== undefined && runKey !== key) keys.push(runKey);
  if (unitKeys) for (const inner of unitKeys) keys.push(inner);
}

const NOT_BEGUN = new Set(['interrupted', 'budget', 'forecast']);

/** Nothing was executed in this run. */
export const NOT_EXECUTED = { usage: NO_USAGE, durationMs: 0, attempts: 0 } as const satisfies Partial<Ending>;

/** Nothing was spent: it failed before anything started. */
export function failedBefore(failure: Failure, inputs?: JsonObject): Execution {
  const status = NOT_BEGUN.has(failure.code) ? 'cancelled' : 'failed';
  return { ...NOT_EXECUTED, status, output: NO_OUTPUT, files: [], failure, inputs };
}

/** A result that no process and no agent made. */
export function pureResult(output: Output, more: Partial<Execution> = {}): Execution {
  return { status: 'done', output, usage: NO_USAGE, durationMs: 0, attempts: 1, files: [], ...more };
}
