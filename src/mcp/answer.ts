import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import { cut, cutText, MOST_CHARACTERS } from './cut.js';
import type { Called, ToolProblem } from './host.js';

/** The answer of a tool: an object, and the command that shows all of it. */
export interface ToolAnswer {
  readonly value: JsonObject;
  readonly whole: string;
}

/** What the client gets: the object, and the same as text for clients that do not read objects. */
export function toToolResult(answer: ToolAnswer | ToolProblem) {
  if ('problem' in answer) {
    return { content: [{ type: 'text' as const, text: cutText(answer.problem, MOST_CHARACTERS) }], isError: true };
  }
  const { value, text } = shortAnswer(answer);
  return { content: [{ type: 'text' as const, text }], structuredContent: value };
}

/** The answer shortened to fit a context window, with the command that shows the rest; and the same as text. */
export function shortAnswer({ value: whole, whole: command }: ToolAnswer): { value: JsonObject; text: string } {
  const text = JSON.stringify(whole);
  if (text.length <= MOST_CHARACTERS) return { value: whole, text };
  const value = { ...(cut(whole) as JsonObject), cut: `shortened; the whole: ${command}` };
  return { value, text: JSON.stringify(value) };
}

/** The JSON that a command printed; or its error message. */
export function readCalled(called: Called): { readonly json: JsonValue } | ToolProblem {
  const { status, stderr } = called;
  const said = stderr.trim();
  let json: JsonValue;
  try {
    json = (called.json ?? JSON.parse(called.stdout)) as JsonValue;
  } catch {
    return { problem: said === '' ? `the command ended with status ${status} and said nothing` : said };
  }
  if (!isJsonObject(json) || json['status'] !== 'refused') return { json };
  const { error } = json as { error?: { message?: string; hint?: string } };
  return { problem: said || [error?.message, error?.hint].filter(Boolean).join('\n') || 'refused' };
}
