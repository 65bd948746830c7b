import type { JsonValue } from '../../model/json.js';
import type { Kind } from '../../model/kind.js';
import { type CacheHit, NO_USAGE, totalTokens, type Usage } from '../../model/outcome.js';
import { formatDuration } from '../../util/duration.js';
import { savingsOf } from '../budget.js';
import type { ResultLine } from './lines.js';

/**
 * The line of a result that was taken from elsewhere and has nothing unusual about it, as text. A warm run writes
 * thousands of them, so they say only what cannot be told from the rest: see `reusedInFull`. They begin like those of
 * every result, and end with what it said.
 */
export interface ReusedLine {
  /** When and why it was taken. Without both, the line is the same each time: see `TakenLine`. */
  readonly taken?: { readonly at: number; readonly reason: string };
  readonly phase: string;
  readonly kind: Kind;
  readonly unit?: string;
  /** A digest, and so is `runKey`. */
  readonly key: string;
  readonly runKey: string;
  readonly hit: CacheHit;
  readonly madeAt: number;
  /** See `reusedFigures`. */
  readonly figures: string;
  /** As JSON. */
  readonly output: string;
}

export function reusedLine(line: ReusedLine): string {
  const { taken, phase, kind, unit, key, runKey, hit, madeAt, output, figures } = line;
  const at = taken ? `"at":${taken.at},` : '';
  const head =
    unit === undefined
      ? `{"type":"phase",${at}"phase":${JSON.stringify(phase)},"kind":"${kind}"`
      : `{"type":"unit",${at}"phase":${JSON.stringify(phase)},"kind":"${kind}","unit":${JSON.stringify(unit)}`;
  const reason = taken ? `"reason":${JSON.stringify(taken.reason)},` : '';
  const keys = runKey === key ? `"key":"${key}"` : `"key":"${key}","runKey":"${runKey}"`;
  return `${head},"status":"done",${reason}${keys},"hit":"${hit}","madeAt":${madeAt},${figures},"output":${output}}`;
}

/** Why something that another run has made is taken. */
export function ageReason(madeAt: number, now: number): string {
  return `age ${formatDuration(Math.max(0, now - madeAt))}`;
}

/** What a result has cost; `usage` is left out where nothing was used but time. */
export interface WrittenCost {
  readonly usage?: Usage;
  readonly durationMs: number;
}

/** The fields that are the same each time the result is reused. */
export function reusedFigures(result: {
  readonly cost: { readonly usage: Usage; readonly durationMs: number };
  readonly model?: string;
  readonly facts?: JsonValue;
}): string {
  const { cost, model, facts } = result;
  const { usage, durationMs } = cost;
  const written: WrittenCost = isFree(usage) ? { durationMs } : { usage, durationMs };
  return JSON.stringify({ cost: written, model, facts }).slice(1, -1);
}

/** Nothing was used but time. */
export function isFree(usage: Usage): boolean {
  return usage.usd === 0 && totalTokens(usage) === 0;
}

export function costInFull({ usage = NO_USAGE, durationMs }: WrittenCost): NonNullable<ResultLine['cost']> {
  return { usage, durationMs };
}

type Written = Omit<
  ResultLine,
  'at' | 'reason' | 'key' | 'madeAt' | 'attempts' | 'durationMs' | 'usage' | 'saved' | 'cost'
> & {
  readonly at?: number;
  readonly reason?: string;
  readonly key: string;
  readonly madeAt: number;
  readonly attempts?: undefined;
  readonly cost: WrittenCost;
};

/** A line that does not say how often it was tried is one of these. */
export function isShort(line: ResultLine | Written): line is Written {
  return line.attempts === undefined;
}

/**
 * With what it leaves out: nothing was spent, what was saved is what it had cost, and mostly both keys are the same.
 * `takenAt` is for a line that says no time; whoever reads a single line does not know it, and has the time of its making.
 */
export function reusedInFull(line: Written, takenAt: number | undefined): ResultLine {
  const cost = costInFull(line.cost);
  const at = line.at ?? takenAt ?? line.madeAt;
  return {
    ...line,
    at,
    reason: line.reason ?? ageReason(line.madeAt, at),
    runKey: line.runKey ?? line.key,
    attempts: 0,
    durationMs: 0,
    usage: NO_USAGE,
    saved: savingsOf(cost),
    cost,
  };
}
