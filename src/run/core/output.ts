import { isUtf8 } from 'node:buffer';
import type { Failure } from '../../model/failure.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { schemaMs } from '../../model/limits.js';
import { type Output, StoredOutput, type TextOutput } from '../../model/output.js';
import { slowPatternIn } from '../../plan/schema-patterns.js';
import { runBounded } from '../../util/bounded.js';
import { formatDuration } from '../../util/duration.js';
import { nextTurn } from '../../util/timer.js';
import { isLongTurn } from '../../util/turn.js';
import { readJson, readText } from './output-text.js';

/** Bytes as text where they are text; else kept byte for byte beside a lossy reading. */
export function outputOfBytes(bytes: Buffer): TextOutput {
  const text = bytes.toString('utf8');
  if (isUtf8(bytes)) return { text: withoutTrailingLineEnds(text), json: null };
  return { text, json: null, base64: bytes.toString('base64') };
}

function withoutTrailingLineEnds(text: string): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end -= 1;
  return end === text.length ? text : text.slice(0, end);
}

/**
 * Parses an output and checks it against what the phase promises. An output that has JSON already, as that of a nested
 * flow may, is checked by that: its text may be made for people. Where JSON was found within the text of a stored
 * output, the caller keeps the result anew.
 */
export function promised(output: Output, promise: OutputPromise): Promised | Promise<Promised> {
  return promise.output === 'text' && !promise.expect ? { output } : checked(output, promise);
}

interface OutputPromise {
  readonly output: 'text' | 'json';
  readonly expect?: JsonObject;
  readonly lenient: boolean;
}

type Promised = { output: Output } | { failure: Failure };

async function checked(output: Output, promise: OutputPromise): Promise<Promised> {
  const read = readText(output);
  if ('failure' in read) return read;
  const { text } = read;
  const known = knownJson(output);
  let json = known;
  if (promise.output === 'json' && json === null) {
    const parsed = promise.lenient ? jsonWithin(text) : strictJson(text);
    if (parsed === undefined) return { failure: notJson(text, promise.lenient) };
    json = parsed;
  }
  if (promise.expect) {
    const subject = promise.output === 'json' || json !== null ? json : text;
    const broken = await contractBroken(subject, promise.expect, text.length);
    if (broken) return { failure: broken };
  }
  return { output: json === known ? output : withJson(output, text, json) };
}

function knownJson(output: Output): JsonValue {
  if (!(output instanceof StoredOutput) || !output.stored.json) return output.json;
  const read = readJson(output);
  return 'json' in read ? (read.json ?? null) : null;
}

/** Of a stored output, the file holds the value too, unless the value is only a part of the text. */
function withJson(output: Output, text: string, json: JsonValue): Output {
  if (!(output instanceof StoredOutput)) return { ...output, json };
  return strictJson(text) === undefined ? { text, json } : output.withJson(output.stored);
}

function notJson(text: string, byAgent: boolean): Failure {
  const start = text.trim().slice(0, 80);
  return {
    code: 'not-json',
    message:
      text.trim() === ''
        ? 'the output is empty, not JSON'
        : `the output is not JSON: it starts with ${JSON.stringify(start)}`,
    hint: `${byAgent ? JSON_BY_AGENT : JSON_BY_COMMAND}, or drop \`output: json\`.`,
  };
}

const JSON_BY_AGENT = 'Say in the task that only JSON is wanted';
const JSON_BY_COMMAND = 'Let the command print JSON and nothing else';

export function strictJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The caller says what is wrong with it.
    return undefined;
  }
}

/** Models put fences or sentences around JSON: the whole text, else the last fenced block, else the one value. */
export function jsonWithin(text: string): JsonValue | undefined {
  const whole = strictJson(text.trim());
  if (whole !== undefined) return whole;
  const fences = [...text.matchAll(/```(?:json[c5]?)?[ \t]*\r?\n([\s\S]*?)```/gi)].map((match) =>
    strictJson(match[1]!.trim()),
  );
  const fenced = fences.filter((value) => value !== undefined).at(-1);
  if (fenced !== undefined) return fenced;
  for (const [open, close] of [
    ['{', '}'],
    ['[', ']'],
  ] as const) {
    const start = text.indexOf(open);
    const end = text.lastIndexOf(close);
    if (start === -1 || end <= start) continue;
    const other = open === '{' ? text.indexOf('[') : text.indexOf('{');
    if (other !== -1 && other < start) continue;
    const value = strictJson(text.slice(start, end + 1));
    if (value !== undefined) return value;
  }
  return undefined;
}

async function contractBroken(value: JsonValue, schema: JsonObject, length: number): Promise<Failure | undefined> {
  const judged = await heldTo(schema, value, length);
  if ('unanswered' in judged) {
    return {
      code: 'limit',
      message: `whether the output meets \`expect\` cannot be said: ${judged.unanswered}`,
      hint: 'Make the schema simpler, or check the output in a script.',
    };
  }
  const { problems } = judged;
  if (problems.length === 0) return undefined;
  return {
    code: 'expect',
    message: `the output does not meet \`expect\`: ${problems.slice(0, 3).join('; ')}`,
    hint: 'The contract is in `expect`; the output is in `taskflow trace`.',
  };
}

/**
 * How a value breaks a JSON Schema, in words; empty when it does not. Unanswered when there was no time for the check:
 * a large value may take longer (`length` is that of its text).
 */
export async function heldTo(
  schema: JsonObject,
  value: JsonValue,
  length: number,
): Promise<{ readonly problems: readonly string[] } | { readonly unanswered: string }> {
  const { Validator } = await import('@cfworker/json-schema');
  if (isLongTurn()) await nextTurn();
  try {
    const checked = runBounded(
      () => new Validator(schema as never, '2020-12', false).validate(value),
      schemaMs(length),
    );
    if ('tookLongerMs' in checked) return { unanswered: tookTooLong(schema, checked.tookLongerMs) };
    const { valid, errors } = checked.value;
    if (valid) return { problems: [] };
    const leaves = errors.filter((error) => error.keyword !== 'properties' && error.keyword !== 'items');
    return {
      problems: (leaves.length > 0 ? leaves : errors).map(
        (error) => `${error.instanceLocation.replace(/^#\/?/, '') || 'value'}: ${error.error}`,
      ),
    };
  } catch (error) {
    // A schema that cannot be used (an unknown reference, a bad pattern) is a contract that nothing meets.
    return { problems: [`the schema cannot be used: ${(error as Error).message}`] };
  }
}

function tookTooLong(schema: JsonObject, limitMs: number): string {
  const pattern = slowPatternIn(schema);
  const what = pattern === undefined ? 'the schema' : `the schema, with the pattern /${pattern}/,`;
  return `${what} took longer than ${formatDuration(limitMs)}`;
}
