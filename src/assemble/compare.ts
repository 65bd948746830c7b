import type { JsonObject, JsonValue } from '../model/json.js';
import { heldTo, jsonWithin } from '../run/core/output.js';
import type { RunResult } from '../run/core/result.js';
import { canonicalEncode } from '../util/canonical.js';

/** The flow's result as a value of the output schema, or what is wrong with it. */
export async function resultValue(
  { output, json }: Pick<RunResult, 'output' | 'json'>,
  schema: JsonObject,
): Promise<{ readonly value: JsonValue } | { readonly problem: string }> {
  const parsed = json ?? jsonWithin(output);
  const candidates: JsonValue[] = parsed === undefined || parsed === output ? [output] : [parsed, output];
  let first: string | undefined;
  for (const value of candidates) {
    const held = await heldTo(schema, value, output.length);
    const problems = 'unanswered' in held ? [held.unanswered] : held.problems;
    if (problems.length === 0) return { value };
    first ??= problems.slice(0, 3).join('; ');
  }
  return { problem: `the result does not fit the output schema: ${first} (it is ${excerpt(candidates[0]!)})` };
}

export function isSame(value: JsonValue, wanted: JsonValue): boolean {
  return canonicalEncode(value) === canonicalEncode(wanted);
}

const LONGEST = 600;

/** Shortened JSON for messages. */
export function excerpt(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
