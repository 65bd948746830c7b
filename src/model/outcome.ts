import type { Failure } from './failure.js';
import type { JsonObject, JsonValue } from './json.js';
import type { Kind } from './kind.js';
import type { Observation, ObservedCounts, SeenInputs } from './observation.js';
import type { Output, TextOutput } from './output.js';

export { NO_OUTPUT, type Output } from './output.js';

export const STATUSES = ['done', 'failed', 'skipped', 'blocked', 'paused', 'cancelled'] as const;
export type Status = (typeof STATUSES)[number];

/** What an execution cost. `usd` is undefined where the price is unknown: unknown is never 0. */
export interface Usage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly usd?: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, usd: 0 };

/** The price of the sum is unknown if that of either part is. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    usd: a.usd === undefined || b.usd === undefined ? undefined : a.usd + b.usd,
  };
}

export function totalTokens(usage: Usage): number {
  return usage.inputTokens + usage.cachedInputTokens + usage.outputTokens;
}

/** What was paid. */
export interface Spent {
  /** Null where the price of it, or of a part of it, is not known. */
  readonly usd: number | null;
  readonly tokens: number;
}

export const NOTHING_SPENT: Spent = { usd: 0, tokens: 0 };

export function spentOn(usage: Usage): Spent {
  return { usd: usage.usd ?? null, tokens: totalTokens(usage) };
}

/** The price of the sum is unknown if that of either part is. */
export function addSpent(a: Spent, b: Spent): Spent {
  return { usd: a.usd === null || b.usd === null ? null : a.usd + b.usd, tokens: a.tokens + b.tokens };
}

/** A file that a phase wrote and declared, relative to the project root with forward slashes. */
export interface OutputFile {
  readonly path: string;
  readonly digest: string;
  readonly mode: number;
}

export interface ItemCounts {
  readonly total: number;
  readonly executed: number;
  readonly reused: number;
  readonly failed: number;
}

export type CacheHit = 'run' | 'cross-run';

/**
 * The phase, or something inside it, is not idempotent and has begun: only a person may repeat it. What is done stays
 * done when the rest is tried again; what failed would be tried again itself.
 */
export type Acted = 'done' | 'failed';

export function actedOf(parts: Iterable<{ readonly acted?: Acted }>): Acted | undefined {
  let acted: Acted | undefined;
  for (const part of parts) if (part.acted !== undefined && acted !== 'failed') acted = part.acted;
  return acted;
}

/** What the original execution cost. A reused result keeps it. */
export interface Cost {
  readonly usage: Usage;
  readonly durationMs: number;
}

/**
 * A result, made once and carried by reference: outcomes, events and reports point at it; the journal, the store and
 * the snapshot write it and read it back.
 */
export interface Result {
  /** For a phase without an identity of its own: a digest of its parts' keys. */
  readonly key?: string;
  readonly madeAt: number;
  readonly output: Output;
  readonly cost: Cost;
  readonly files: readonly OutputFile[];
  readonly model?: string;
  readonly facts?: JsonValue;
  /** The execution that made it, unchanged when it is reused; for a result with parts, a digest of theirs. */
  readonly execution?: string;
  /** Why this result, and anything that it is a part of, may not be kept across runs. */
  readonly unkeepable?: string;
  readonly items?: ItemCounts;
  /** Undeclared paths that it looked at. */
  readonly seen?: SeenInputs;
}

/** Where a result came from, in this run. */
export interface Origin {
  readonly hit: CacheHit | null;
  /** Age of the reused result; undefined when it was executed. */
  readonly ageMs?: number;
  /** It came from the shared store in this run. */
  readonly shared?: true;
  /** Why it ran, was reused or was skipped, in words. */
  readonly reason: string;
}

/** How work ended in this run, and what this run spent on it. */
export interface Ending {
  readonly status: Status;
  /** Spent by this run. What reuse saved is in `saved`. */
  readonly usage: Usage;
  readonly durationMs: number;
  readonly attempts: number;
  readonly saved?: Savings;
  readonly failure?: Failure;
  /** Reported beside the result: `not kept: …`, `kept worktree …`, `no clear winner: took the first`. */
  readonly remark?: string;
  /**
   * Nothing was executed or reused: a person marked it as done (`--skip` of a side effect in doubt), there was nothing
   * to do, or everything inside was skipped.
   */
  readonly noWork?: true;
  /** Only the engine made it (an approval, a gate's conditions): no file can have changed. */
  readonly pure?: true;
  /** Something inside of it is not idempotent, and has begun. */
  readonly acted?: Acted;
  /** Keys of the units it consists of: what a gate's rejection takes out of the store. */
  readonly unitKeys?: readonly string[];
  /** Rendered task, argv and the like, for `trace`. Secrets are masked when it is written. */
  readonly inputs?: JsonObject;
  readonly clientVersion?: string;
  /** What it looked at inside the project, if it was observed. */
  readonly observed?: Observation;
}

/** How a phase ended, as events show it. Fields are only ever added. */
export interface ShownOutcome {
  readonly id: string;
  readonly kind: Kind;
  readonly status: Status;
  readonly cacheHit: CacheHit | null;
  readonly ageMs?: number;
  readonly shared?: true;
  readonly reason: string;
  readonly key?: string;
  readonly output: TextOutput;
  readonly files: readonly OutputFile[];
  readonly attempts: number;
  readonly durationMs: number;
  readonly usage: Usage;
  readonly saved?: Savings;
  readonly model?: string;
  readonly failure?: Failure;
  /** It did not succeed, but is optional: the run goes on without it. */
  readonly optional?: true;
  readonly items?: ItemCounts;
  readonly unkeepable?: string;
  /** How much it looked at, for an execution in this run. */
  readonly observed?: ObservedCounts;
  readonly execution?: string;
  /** A later run can reuse its result. */
  readonly kept?: true;
  /** The phase at or above this one that executed in this run. */
  readonly newWork?: string;
  readonly noWork?: true;
  readonly remark?: string;
}

export interface Savings {
  /** Null where the price of it, or of a part of it, is unknown: unknown is never 0. */
  readonly usd: number | null;
  readonly tokens: number;
  readonly ms: number;
}

export const NO_SAVINGS: Savings = { usd: 0, tokens: 0, ms: 0 };
