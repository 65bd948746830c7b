import type { JsonValue } from '../../model/json.js';
import type { Kind } from '../../model/kind.js';
import { type CacheHit, NO_USAGE, totalTokens, type Usage } from '../../model/outcome.js';
import { savingsOf } from '../budget.js';
import type { ResultLine } from './lines.js';

/**
 * The line of a result that was taken from elsewhere and has nothing unusual about it, as text. A warm run writes
 * thousands of them, so they say only what cannot be told from the rest: see `reusedInFull`. The order of the fields is
 * that of `ResultLine`.
 */
export interface ReusedLine {
  readonly at: number;
  readonly phase: string;
  readonly kind: Kind;
  readonly unit?: string;
  readonly reason: string;
  /** A digest, and so is `runKey`. */
  readonly key: string;
  readonly runKey: string;
  readonly hit: CacheHit;
  readonly madeAt: number;
  /** As JSON. */
  readonly output: string;
  /** See `reusedFigures`. */
  readonly figures: string;
}

export function reusedLine(line: ReusedLine): string {
  const { at, phase, kind, unit, reason, key, runKey, hit, madeAt, output, figures } = line;
  const head =
    unit === undefined
      ? `{"type":"phase","at":${at},"phase":${JSON.stringify(phase)},"kind":"${kind}"`
      : `{"type":"unit","at":${at},"phase":${JSON.stringify(phase)},"kind":"${kind}","unit":${JSON.stringify(unit)}`;
  const keys = runKey === key ? `"key":"${key}"` : `"key":"${key}","runKey":"${runKey}"`;
  return (
    `${head},"status":"done","reason":${JSON.stringify(reason)},${keys},` +
    `"hit":"${hit}","madeAt":${madeAt},"output":${output},${figures}}`
  );
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
  const isFree = usage.usd === 0 && totalTokens(usage) === 0;
  const written: WrittenCost = isFree ? { durationMs } : { usage, durationMs };
  return JSON.stringify({ cost: written, model, facts }).slice(1, -1);
}

export function costInFull({ usage = NO_USAGE, durationMs }: WrittenCost): NonNullable<ResultLine['cost']> {
  return { usage, durationMs };
}

type Written = Omit<ResultLine, 'attempts' | 'durationMs' | 'usage' | 'saved' | 'cost'> & {
  readonly attempts?: undefined;
  readonly cost: WrittenCost;
};

/** A line that does not say how often it was tried is one of these. */
export function isShort(line: ResultLine | Written): line is Written {
  return line.attempts === undefined;
}

/** With what it leaves out: nothing was spent, what was saved is what it had cost, and mostly both keys are the same. */
export function reusedInFull(line: Written): ResultLine {
  const cost = costInFull(line.cost);
  return {
    ...line,
    runKey: line.runKey ?? line.key,
    attempts: 0,
    durationMs: 0,
    usage: NO_USAGE,
    saved: savingsOf(cost),
    cost,
  };
}
