import { isJsonObject, type JsonValue } from '../../model/json.js';
import { KINDS } from '../../model/kind.js';
import { STATUSES } from '../../model/outcome.js';
import { isOutput } from '../../model/output.js';
import type { JournalLine } from './lines.js';

/** Whether a value is what a line says it is, as far as the engine relies on it. */
type Check = (value: JsonValue | undefined) => boolean;
type Shape = Readonly<Record<string, Check>>;

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const flag: Check = (value) => typeof value === 'boolean';
const object: Check = (value) => isJsonObject(value ?? null);
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const oneOf =
  (...values: readonly (string | null)[]): Check =>
  (value) =>
    values.includes(value as string | null);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const shaped =
  (shape: Shape): Check =>
  (value) =>
    isJsonObject(value ?? null) && fits(value as Record<string, JsonValue>, shape);

const usage = shaped({ inputTokens: number, cachedInputTokens: number, outputTokens: number, usd: maybe(number) });
const savings = shaped({ usd: (value) => value === null || number(value), tokens: number, ms: number });
const failure = shaped({ code: text, message: text, hint: maybe(text), detail: maybe(text) });
const counts = shaped({ total: number, executed: number, reused: number, failed: number });
const observed = shaped({
  ...{ complete: flag, incomplete: maybe(text), reads: number, lists: number, absent: number, writes: number },
  undeclared: number,
});
const texts = listOf(text);
const seen = shaped({
  value: text,
  set: shaped({
    ...{ complete: flag, reads: texts, absent: texts, present: texts, marks: texts },
    lists: listOf(shaped({ path: text, own: texts })),
  }),
});
const place = { phase: text, unit: maybe(text), runKey: maybe(text) };

const result: Shape = {
  ...place,
  kind: oneOf(...KINDS),
  status: oneOf(...STATUSES),
  reason: text,
  key: maybe(text),
  execution: maybe(text),
  hit: oneOf(null, 'run', 'cross-run'),
  madeAt: maybe(number),
  validIn: maybe(text),
  outdatedBy: maybe(text),
  output: isOutput,
  files: maybe(listOf(shaped({ path: text, digest: text, mode: number }))),
  attempts: number,
  durationMs: number,
  usage,
  saved: maybe(savings),
  cost: maybe(shaped({ usage, durationMs: number })),
  model: maybe(text),
  failure: maybe(failure),
  items: maybe(counts),
  identity: maybe(object),
  inputs: maybe(object),
  observed: maybe(observed),
  seen: maybe(seen),
  unkeepable: maybe(text),
  effect: maybe(shaped({ unit: maybe(text), body: text, env: text, inputs: object })),
  remark: maybe(text),
};

const carried: Shape = { from: text };
const SHAPES: { readonly [T in JournalLine['type']]: Shape } = {
  run: {
    ...{ runId: text, flow: text, file: maybe(text), fileDigest: maybe(text), ref: text, byName: flag },
    ...{ mode: oneOf('run', 'batch'), over: maybe(text), rows: maybe(number), args: object, argsDigest: text },
    ...{ continues: maybe(text), owner: object },
    phases: listOf(shaped({ id: text, kind: oneOf(...KINDS), needs: listOf(text) })),
  },
  'carried-begin': carried,
  'carried-end': carried,
  start: { ...place, idempotent: flag, reason: text, begunIn: maybe(text), effect: maybe(text) },
  child: { phase: text, pid: number, startTicks: maybe(number), mark: maybe(text) },
  attempt: { ...place, failure: maybe(failure) },
  unit: result,
  phase: result,
  rejected: { phase: text, keys: listOf(text) },
  ask: {
    phase: text,
    text,
    digest: text,
    deadline: maybe(number),
    onExpire: maybe(oneOf('reject', 'approve', 'fail')),
  },
  decision: { phase: text, digest: text, decision: oneOf('approve', 'reject'), note: maybe(text), by: maybe(text) },
  limit: { phase: text, runner: text, until: number, known: flag, waits: flag, error: text },
  warning: { message: text, phase: maybe(text) },
  row: {
    ...{ row: number, label: text, path: text, args: object, status: text, usage, saved: savings, durationMs: number },
    ...{ reuse: shaped({ executed: number, run: number, crossRun: number }), file: maybe(text) },
    ...{ failure: maybe(failure), output: maybe(isOutput) },
  },
  end: { status: text, durationMs: number, spent: usage, saved: savings, failure: maybe(failure) },
};

/** A line that another program, a damaged disk or a forger made is passed over like one that was cut short. */
export function isJournalLine(value: unknown): value is JournalLine {
  const line = value as JsonValue;
  if (!isJsonObject(line) || typeof line['type'] !== 'string' || !number(line['at'])) return false;
  return Object.hasOwn(SHAPES, line['type']) && fits(line, SHAPES[line['type'] as JournalLine['type']]);
}

function fits(value: Readonly<Record<string, JsonValue>>, shape: Shape): boolean {
  for (const name in shape) if (!shape[name]!(value[name])) return false;
  return true;
}
