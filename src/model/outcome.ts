import type { Failure } from './failure.js';
import type { Kind } from './kind.js';
import type { Observation, ObservedCounts } from './observation.js';
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

/** A sum with a part whose price is not known has none. */
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

/** How one phase of a run ended. */
export interface PhaseOutcome {
  readonly id: string;
  readonly kind: Kind;
  readonly status: Status;
  readonly cacheHit: CacheHit | null;
  /** Age of the reused result; undefined when it was executed. */
  readonly ageMs?: number;
  /** Why it ran, was reused or was skipped, in words. */
  readonly reason: string;
  readonly key?: string;
  readonly output: Output;
  readonly files: readonly OutputFile[];
  readonly attempts: number;
  readonly durationMs: number;
  /** Spent by this run. What reuse saved is in `saved`. */
  readonly usage: Usage;
  readonly saved?: Savings;
  /** What it cost when it was executed. */
  readonly cost?: { readonly usage: Usage; readonly durationMs: number };
  readonly model?: string;
  readonly failure?: Failure;
  /** It did not succeed, but is optional: the run goes on without it. */
  readonly optional?: true;
  readonly items?: ItemCounts;
  /** Why this may not be kept across runs, nor anything that it is a part of, although it is done. */
  readonly unkeepable?: string;
  /** What it was made from, where somebody looked. */
  readonly observed?: Observation;
  /** The same in numbers, of an execution in this run. */
  readonly looked?: ObservedCounts;
  /** Keys of the units and nested phases it consists of, where it has some. */
  readonly unitKeys?: readonly string[];
  readonly acted?: Acted;
  /** Which execution made the result: the same one for as long as it is reused. */
  readonly execution?: string;
  /** Its result can be found again by a later run: what follows it in order may be, too. */
  readonly kept?: true;
  /** The phase at or above this one that executed in this run: what reads files that nobody declared follows it. */
  readonly newWork?: string;
  /**
   * Nothing was executed and nothing reused: a person marked it as done (`--skip` of a side effect in doubt), there was
   * nothing to do, or everything inside was skipped.
   */
  readonly noWork?: true;
  /** Shown with the result: `not kept: …`, `changes kept in worktree …`. */
  readonly remark?: string;
}

/** As events show it. */
export interface ShownOutcome extends Omit<PhaseOutcome, 'observed' | 'looked'> {
  readonly output: TextOutput;
  readonly observed?: ObservedCounts;
}

export interface Savings {
  /** Null where the price of it, or of a part of it, is unknown: unknown is never 0. */
  readonly usd: number | null;
  readonly tokens: number;
  readonly ms: number;
}

export const NO_SAVINGS: Savings = { usd: 0, tokens: 0, ms: 0 };
