import { isJsonObject, type JsonObject, type JsonValue } from '../../model/json.js';
import type { Usage } from '../../model/outcome.js';
import { parseObject } from '../read-event.js';
import type { Draft } from '../transcript.js';

/** What one line of a server-sent event stream holds; undefined: nothing. */
type StreamEvent = { readonly chunk: JsonObject } | { readonly garbage: string } | 'done' | undefined;

/** Reads a line of a stream of chat completion chunks. Each is parsed once, here. */
export function readChunk(line: string): StreamEvent {
  const text = line.trim();
  if (text === '' || text.startsWith(':')) return undefined;
  if (!text.startsWith('data:')) return /^(?:event|id|retry):/.test(text) ? undefined : { garbage: line };
  const data = text.slice('data:'.length).trim();
  if (data === '[DONE]') return 'done';
  const chunk = parseObject(data);
  return chunk ? { chunk } : { garbage: data };
}

/** Whether a chunk carries a part of an answer: text, thoughts, a tool call, the end of it, what it cost, an error. */
export function saysSomething(chunk: JsonObject): boolean {
  if (isSomething(chunk['error']) || isSomething(chunk['usage'])) return true;
  const choices = chunk['choices'];
  return Array.isArray(choices) && choices.some((choice) => isJsonObject(choice) && isPart(choice));
}

function isPart({ delta, message, finish_reason: finish }: JsonObject): boolean {
  if (isSomething(finish)) return true;
  const said = delta ?? message;
  return isJsonObject(said) && Object.entries(said).some(([name, value]) => name !== 'role' && isSomething(value));
}

function isSomething(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** A chunk of a streamed completion, or a whole one (from a server that does not stream). */
export function foldCompletion(transcript: Draft, chunk: JsonObject): void {
  if (chunk['error'] !== undefined && chunk['error'] !== null) {
    transcript.error = errorText(chunk['error']);
    return;
  }
  const { model } = chunk;
  if (typeof model === 'string' && model !== '') transcript.model = model;
  transcript.usage = usageOf(chunk['usage']) ?? transcript.usage;
  const choices = chunk['choices'];
  const choice = Array.isArray(choices) ? (choices[0] as JsonValue | undefined) : undefined;
  if (isJsonObject(choice)) foldChoice(transcript, choice);
}

function foldChoice(transcript: Draft, choice: JsonObject): void {
  const said = choice['delta'] ?? choice['message'];
  const { content, refusal } = isJsonObject(said) ? said : {};
  if (transcript.turns === 0) transcript.turns = 1;
  if (typeof content === 'string') transcript.text += content;
  if (typeof refusal === 'string' && refusal !== '') {
    transcript.text += refusal;
    transcript.stop = 'refusal';
  }
  const finish = choice['finish_reason'];
  if (typeof finish === 'string' && finish !== '') foldFinish(transcript, finish);
}

function foldFinish(transcript: Draft, finish: string): void {
  transcript.ended = true;
  switch (finish) {
    case 'length':
    case 'max_tokens':
      transcript.stop = 'length';
      break;
    case 'content_filter':
      transcript.stop = 'refusal';
      break;
    case 'tool_calls':
    case 'function_call':
      transcript.error = 'the model asked for a tool, and this runner has none';
      break;
    case 'error':
      transcript.error = 'the provider broke the answer off with an error';
      transcript.transient = true;
      break;
  }
}

export function errorText(error: JsonValue): string {
  if (typeof error === 'string') return error;
  if (!isJsonObject(error)) return JSON.stringify(error);
  const { message, type, code } = error;
  const label = [type, code].find((value) => typeof value === 'string' && value !== '');
  if (typeof message !== 'string') return JSON.stringify(error);
  return label === undefined ? message : `${message} (${String(label)})`;
}

function usageOf(value: JsonValue | undefined): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const count = (name: JsonValue | undefined) => (typeof name === 'number' ? name : 0);
  const details = value['prompt_tokens_details'];
  const cached = isJsonObject(details) ? count(details['cached_tokens']) : 0;
  return {
    inputTokens: Math.max(0, count(value['prompt_tokens']) - cached),
    cachedInputTokens: cached,
    outputTokens: count(value['completion_tokens']),
    // Some providers say what it cost.
    ...(typeof value['cost'] === 'number' && { usd: value['cost'] }),
  };
}
