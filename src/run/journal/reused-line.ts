import type { JsonValue } from '../../model/json.js';
import type { Kind } from '../../model/kind.js';
import { type CacheHit, NO_USAGE, type Savings, type Usage } from '../../model/outcome.js';

/**
 * The line of a result that was taken from elsewhere and has nothing unusual about it, as text. A warm run writes
 * thousands of them, and putting one together costs half of encoding it. The order of the fields is that of `ResultLine`.
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
  return (
    `${head},"status":"done","reason":${JSON.stringify(reason)},"key":"${key}","runKey":"${runKey}",` +
    `"hit":"${hit}","madeAt":${madeAt},"output":${output},${figures}}`
  );
}

const NOTHING_SPENT = `"attempts":0,"durationMs":0,"usage":${JSON.stringify(NO_USAGE)}`;

/** The fields that are the same each time the result is reused. */
export function reusedFigures(result: {
  readonly saved: Savings;
  readonly cost: { readonly usage: Usage; readonly durationMs: number };
  readonly model?: string;
  readonly facts?: JsonValue;
}): string {
  const { saved, cost, model, facts } = result;
  const text =
    `${NOTHING_SPENT},"saved":{"usd":${saved.usd},"tokens":${saved.tokens},"ms":${saved.ms}},` +
    `"cost":{"usage":${JSON.stringify(cost.usage)},"durationMs":${cost.durationMs}}`;
  if (model === undefined && facts === undefined) return text;
  return `${text},${JSON.stringify({ model, facts }).slice(1, -1)}`;
}
