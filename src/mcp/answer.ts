import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import { cut, cutText, MOST_CHARACTERS } from './cut.js';
import type { Called, Problem } from './host.js';

/** What a tool answers: an object, and the command that shows the whole of it. */
export interface Answer {
  readonly value: JsonObject;
  readonly whole: string;
}

/** What the client gets: the object, and the same as text for clients that know no objects. */
export function toResult(answer: Answer | Problem) {
  if ('problem' in answer) {
    return { content: [{ type: 'text' as const, text: cutText(answer.problem, MOST_CHARACTERS) }], isError: true };
  }
  const structuredContent = shortened(answer);
  return { content: [{ type: 'text' as const, text: JSON.stringify(structuredContent) }], structuredContent };
}

/** What fits a context window, and a pointer to the whole. */
export function shortened({ value: whole, whole: command }: Answer): JsonObject {
  const { value, isCut } = cut(whole);
  return isCut ? { ...(value as JsonObject), cut: `shortened; the whole: ${command}` } : whole;
}

/** The JSON that a command printed; or what was wrong, in the words of the command line. */
export function readCalled({ status, stdout, stderr }: Called): { readonly json: JsonValue } | Problem {
  const said = stderr.trim();
  let json: JsonValue;
  try {
    json = JSON.parse(stdout) as JsonValue;
  } catch {
    return { problem: said === '' ? `the command ended with status ${status} and said nothing` : said };
  }
  if (!isJsonObject(json) || json['status'] !== 'refused') return { json };
  const { error } = json as { error?: { message?: string; hint?: string } };
  return { problem: said || [error?.message, error?.hint].filter(Boolean).join('\n') || 'refused' };
}
