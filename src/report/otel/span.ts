import { sha256Hex } from '../../util/digest.js';

/** A span as OTLP writes it in JSON: ids in hex, 64-bit numbers as text. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: 1 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly events?: readonly SpanEvent[];
  readonly status: { readonly code?: 2; readonly message?: string };
}

export interface SpanEvent {
  readonly timeUnixNano: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
}

interface Attribute {
  readonly key: string;
  readonly value:
    | { readonly stringValue: string }
    | { readonly boolValue: boolean }
    | { readonly intValue: string }
    | { readonly doubleValue: number };
}

export const INTERNAL = 1;
export const CLIENT = 3;

/** Longer texts (a reason that names a hundred files) are useless in a trace. */
const LONGEST_TEXT = 1_000;

export type Values = Readonly<Record<string, string | boolean | number | undefined | null>>;

/** Sent as fractions even where the value is whole, because a column has one type. */
const FRACTIONS = /(?:usd)$/;

/** Leaves out what is not known. */
export function attributesOf(values: Values): Attribute[] {
  return Object.entries(values).flatMap(([key, value]): Attribute[] => {
    if (value === undefined || value === null) return [];
    if (typeof value === 'string') return [{ key, value: { stringValue: shortened(value) } }];
    if (typeof value === 'boolean') return [{ key, value: { boolValue: value } }];
    if (!Number.isFinite(value)) return [];
    if (FRACTIONS.test(key)) return [{ key, value: { doubleValue: value } }];
    return [{ key, value: { intValue: BigInt(Math.round(value)).toString() } }];
  });
}

/** Never cuts a character in half: some receivers refuse a whole request for that. */
export function shortened(text: string): string {
  const short = text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`;
  return Buffer.from(short).toString();
}

/** Milliseconds since the epoch as nanoseconds. */
export function nanos(ms: number): string {
  return `${Math.max(0, Math.round(ms))}000000`;
}

/** The same run has the same ids whenever it is sent. */
export function traceIdOf(runId: string): string {
  return sha256Hex(`taskflow trace ${runId}`).slice(0, 32);
}

export function spanIdOf(runId: string, node: string): string {
  return sha256Hex(`taskflow span ${runId} ${node}`).slice(0, 16);
}
