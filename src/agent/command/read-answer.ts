import { isJsonObject, isTextList, type JsonObject, type JsonValue } from '../../model/json.js';
import type { Usage } from '../../model/outcome.js';
import { parseObject } from '../read-event.js';
import { momentOf } from '../reset-time.js';
import { EMPTY_TRANSCRIPT, type Transcript, withGarbage } from '../transcript.js';

/** `format: text`: all of stdout is the answer, without its trailing line ends. */
export function readTextAnswer(stdout: string): Transcript {
  return { ...EMPTY_TRANSCRIPT, text: stdout.replace(/[\r\n]+$/, ''), turns: 1, ended: true };
}

/** `format: json`: one object with the fields of a result; all but `text` may be left out. */
export function readJsonAnswer(stdout: string): Transcript {
  const answer = parseObject(stdout);
  if (!answer) return withGarbage(EMPTY_TRANSCRIPT, stdout);
  const wrong = problemOf(answer);
  if (wrong !== undefined) return { ...EMPTY_TRANSCRIPT, error: `its answer is not as agreed: ${wrong}` };
  const { model, stopReason } = answer;
  const error = errorOf(answer);
  return {
    ...EMPTY_TRANSCRIPT,
    text: typeof answer['text'] === 'string' ? answer['text'] : '',
    ...(typeof model === 'string' && { model }),
    usage: usageOf(answer['usage']),
    turns: typeof answer['turns'] === 'number' ? answer['turns'] : 1,
    filesRead: textsOf(answer['filesRead']),
    filesWritten: textsOf(answer['filesWritten']),
    usedTools: answer['usedTools'] === true || textsOf(answer['filesWritten']).length > 0,
    permissionDenied: answer['permissionDenied'] === true,
    ...(typeof answer['clientVersion'] === 'string' && { clientVersion: answer['clientVersion'] }),
    ended: true,
    ...((stopReason === 'length' || stopReason === 'refusal') && { stop: stopReason }),
    ...(error !== undefined && { error }),
    ...(isJsonObject(answer['error']) && saidOfError(answer['error'])),
  };
}

/** `resetsAt` (a time, or null where it is not known) means that a usage limit is the reason. */
function saidOfError({ transient, resetsAt }: JsonObject): Partial<Transcript> {
  const moment = momentOf(resetsAt);
  return {
    ...(typeof transient === 'boolean' && { transient }),
    ...(resetsAt !== undefined && { limited: true }),
    ...(moment !== undefined && { resetsAt: moment }),
  };
}

const STOP_REASONS: readonly JsonValue[] = ['complete', 'length', 'refusal', 'error', 'cancelled'];

function problemOf(answer: JsonObject): string | undefined {
  const { stopReason, text, usage, filesRead, filesWritten } = answer;
  if (stopReason !== undefined && !STOP_REASONS.includes(stopReason)) {
    return `stopReason must be one of ${STOP_REASONS.join(', ')}`;
  }
  const failed = answer['error'] !== undefined || (stopReason !== undefined && stopReason !== 'complete');
  if (typeof text !== 'string' && !(failed && text === undefined)) return 'text must be a string';
  if (usage !== undefined && !isJsonObject(usage)) return 'usage must be an object';
  for (const [name, list] of Object.entries({ filesRead, filesWritten })) {
    if (list !== undefined && !isTextList(list)) return `${name} must be a list of paths`;
  }
  return undefined;
}

function errorOf(answer: JsonObject): string | undefined {
  const { error, stopReason } = answer;
  if (typeof error === 'string') return error;
  if (isJsonObject(error)) return typeof error['message'] === 'string' ? error['message'] : JSON.stringify(error);
  return stopReason === 'error' || stopReason === 'cancelled' ? 'it failed and gave no reason' : undefined;
}

function usageOf(value: JsonValue | undefined): Usage {
  const usage = isJsonObject(value) ? value : {};
  const count = (name: string) => (typeof usage[name] === 'number' && usage[name] >= 0 ? usage[name] : 0);
  const tokens = {
    inputTokens: count('inputTokens'),
    cachedInputTokens: count('cachedInputTokens'),
    outputTokens: count('outputTokens'),
  };
  return typeof usage['usd'] === 'number' && usage['usd'] >= 0 ? { ...tokens, usd: usage['usd'] } : tokens;
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return isTextList(value) ? value : [];
}
