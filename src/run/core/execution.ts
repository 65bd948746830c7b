import type { Failure } from '../../model/failure.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import type { Observation, SeenInputs } from '../../model/observation.js';
import {
  type Acted,
  type CacheHit,
  type ItemCounts,
  NO_OUTPUT,
  NO_USAGE,
  type Output,
  type OutputFile,
  type Savings,
  type Usage,
} from '../../model/outcome.js';
import type { Effect } from '../journal/lines.js';

/** The result of executing something. */
export interface Execution {
  readonly status: 'done' | 'failed' | 'blocked' | 'paused' | 'cancelled';
  readonly output: Output;
  readonly usage: Usage;
  readonly durationMs: number;
  readonly attempts: number;
  /** The cost if no part of it had been reused, which reusing all of it saves. Absent where there are no parts. */
  readonly cost?: { readonly usage: Usage; readonly durationMs: number };
  readonly files: readonly OutputFile[];
  readonly model?: string;
  readonly failure?: Failure;
  readonly items?: ItemCounts;
  /** Why this may not be kept across runs although it is done; undefined when it may. */
  readonly unkeepable?: string;
  readonly facts?: JsonValue;
  /** Rendered task, argv and the like, for `trace`. Secrets are masked when it is written. */
  readonly inputs?: JsonObject;
  readonly clientVersion?: string;
  /** Only the engine made it (an approval, a gate's conditions): no file can have changed. */
  readonly pure?: true;
  /** Which execution made it; for a result with parts, a digest of theirs. */
  readonly execution?: string;
  /** For a phase without an identity of its own: a digest of its parts' keys. */
  readonly key?: string;
  /** Keys of the units it consists of: what a gate's rejection takes out of the store. */
  readonly unitKeys?: readonly string[];
  /** Everything in it was reused: the youngest part's age, and from where. */
  readonly reused?: { readonly hit: CacheHit; readonly ageMs: number };
  readonly saved?: Savings;
  /** Something inside of it is not idempotent, and has begun. */
  readonly acted?: Acted;
  /** Nothing was executed: a person marked it done, or there was nothing to do. */
  readonly noWork?: true;
  /** Reported beside the result: `kept worktree …`, `no clear winner: took the first`. */
  readonly remark?: string;
  /** What it looked at inside the project, where somebody looked. */
  readonly observed?: Observation;
}

/** What was made, one time: as it is written to a journal and to the store, and read from them. */
export interface Result {
  readonly key?: string;
  readonly madeAt: number;
  readonly output: Output;
  /** What the original execution cost; for a reused result that is not what this run spent. */
  readonly cost: { readonly usage: Usage; readonly durationMs: number };
  readonly files: readonly OutputFile[];
  readonly model?: string;
  readonly facts?: JsonValue;
  /** Which execution made it; for a result with parts, a digest of theirs. */
  readonly execution?: string;
  /** Why it may not be kept across runs although it is done. */
  readonly unkeepable?: string;
  readonly items?: ItemCounts;
  /** What it looked at besides what is declared. */
  readonly seen?: SeenInputs;
}

/** Where a result came from, in this run. */
export interface Origin {
  readonly hit: CacheHit | null;
  readonly ageMs?: number;
  readonly reason: string;
}

/** A result with its origin, and what this run did for it. */
export interface Settled extends Execution, Result, Origin {
  readonly cost: Result['cost'];
  readonly runKey?: string;
  /** Set for a side effect. */
  readonly effect?: Effect;
  readonly identity?: JsonObject;
  /** It was just made, and the store has it for later runs. */
  readonly kept?: true;
}

/** It ran in this run, and may have changed files. */
export function isNewWork(settled: Pick<Settled, 'hit' | 'attempts' | 'noWork' | 'pure'>): boolean {
  return settled.hit === null && settled.attempts > 0 && !settled.noWork && !settled.pure;
}

/** Every key that finds a result, or a part of it, again. */
export function keysOf(settled: Pick<Settled, 'key' | 'runKey' | 'unitKeys'>): readonly string[] {
  const keys: string[] = [];
  addKeys(keys, settled);
  return keys;
}

export function addKeys(keys: string[], { key, runKey, unitKeys }: Pick<Settled, 'key' | 'runKey' | 'unitKeys'>): void {
  if (key !== undefined) keys.push(key);
  if (runKey !== undefined && runKey !== key) keys.push(runKey);
  if (unitKeys) for (const inner of unitKeys) keys.push(inner);
}

const NOT_BEGUN = new Set(['interrupted', 'budget', 'forecast']);

/** Nothing was spent: it failed before anything started. */
export function failedBefore(failure: Failure, inputs?: JsonObject): Execution {
  return {
    status: NOT_BEGUN.has(failure.code) ? 'cancelled' : 'failed',
    output: NO_OUTPUT,
    usage: NO_USAGE,
    durationMs: 0,
    attempts: 0,
    files: [],
    failure,
    inputs,
  };
}

/** A result that no process and no agent made. */
export function pureResult(output: Output, more: Partial<Execution> = {}): Execution {
  return { status: 'done', output, usage: NO_USAGE, durationMs: 0, attempts: 1, files: [], ...more };
}
