import type { JsonObject } from '../../model/json.js';
import { addUsage, type Usage } from '../../model/outcome.js';
import { numberAt, objectAt, objectsAt, readEvent, textAt } from '../read-event.js';
import { momentOf } from '../reset-time.js';
import { endTool, startTool } from '../tool-calls.js';
import { type Transcript, withGarbage } from '../transcript.js';
import { isTransientStatus } from '../transient.js';

const PARTIAL = '{"type":"stream_event"';

/** One line of `claude -p --output-format stream-json`. */
export function foldClaude(transcript: Transcript, line: string): Transcript {
  // A piece of a message that also comes as a whole: only a sign of life.
  if (line.startsWith(PARTIAL)) return transcript;
  const event = readEvent(line);
  if (!event) return withGarbage(transcript, line);
  switch (event.type) {
    case 'system':
      return event['subtype'] === 'init' ? foldInit(transcript, event) : transcript;
    case 'assistant':
      return foldAssistant(transcript, event);
    case 'user':
      return foldToolResults(transcript, objectAt(event, 'message'));
    case 'rate_limit_event':
      return foldLimit(transcript, objectAt(event, 'rate_limit_info'));
    case 'result':
      return foldResult(transcript, event);
    default:
      return transcript;
  }
}

function foldInit(transcript: Transcript, event: JsonObject): Transcript {
  const clientVersion = textAt(event, 'claude_code_version');
  const model = textAt(event, 'model');
  return {
    ...transcript,
    ...(clientVersion !== undefined && { clientVersion }),
    ...(model !== undefined && { model: withoutWindow(model) }),
  };
}

/** `claude-x[1m]` is the model `claude-x` with a larger window. */
function withoutWindow(model: string): string {
  return model.replace(/\[[^\]]*\]$/, '');
}

/** Sub-agents (with a parent) use tools on our behalf, but what they say is not the answer. */
function foldAssistant(before: Transcript, event: JsonObject): Transcript {
  const message = objectAt(event, 'message');
  const content = objectsAt(message, 'content');
  let transcript = before;
  for (const part of content) if (part['type'] === 'tool_use') transcript = foldToolUse(transcript, part);
  const model = textAt(message, 'model');
  // The client's own error messages, which it sends as the model's.
  if (model === '<synthetic>') {
    return event['error'] === 'max_output_tokens' ? { ...transcript, stop: 'length' } : transcript;
  }
  if (typeof event['parent_tool_use_id'] === 'string') return transcript;
  const text = content.filter((part) => part['type'] === 'text').map((part) => textAt(part, 'text') ?? '');
  return {
    ...transcript,
    ...(model !== undefined && { model: withoutWindow(model) }),
    ...(text.length > 0 && { text: text.join('') }),
    ...foldMessageUsage(transcript, message),
  };
}

/**
 * What one message used. The result reports it better; without a result (a timeout, an abort) this is all that is known
 * of what was spent. Each part of a message repeats its usage.
 */
function foldMessageUsage(transcript: Transcript, message: JsonObject): Partial<Transcript> {
  const id = textAt(message, 'id') ?? '';
  if (id !== '' && id === transcript.messageId) return {};
  const usage = addUsage(transcript.usage, tokensOf(objectAt(message, 'usage')));
  return { usage, turns: transcript.turns + 1, ...(id !== '' && { messageId: id }) };
}

const WRITERS = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit']);

function foldToolUse(transcript: Transcript, part: JsonObject): Transcript {
  const name = textAt(part, 'name') ?? 'tool';
  const input = objectAt(part, 'input');
  const path = textAt(input, 'file_path') ?? textAt(input, 'notebook_path');
  const detail = path ?? textAt(input, 'command') ?? textAt(input, 'pattern') ?? textAt(input, 'description');
  return startTool(transcript, {
    id: textAt(part, 'id') ?? '',
    name,
    ...(detail !== undefined && { detail }),
    ...(path !== undefined && name === 'Read' && { reads: path }),
    ...(path !== undefined && WRITERS.has(name) && { writes: path }),
  });
}

function foldToolResults(before: Transcript, message: JsonObject): Transcript {
  let transcript = before;
  for (const part of objectsAt(message, 'content')) {
    if (part['type'] !== 'tool_result') continue;
    transcript = endTool(transcript, textAt(part, 'tool_use_id') ?? '', part['is_error'] === true);
  }
  return transcript;
}

/** Notes until when calls are refused. Only the result says whether that ended the answer. */
function foldLimit(before: Transcript, info: JsonObject): Transcript {
  const { resetsAt: _before, ...transcript } = before;
  const resetsAt = info['status'] === 'rejected' ? momentOf(info['resetsAt']) : undefined;
  return resetsAt === undefined ? transcript : { ...transcript, resetsAt };
}

/** The final event. `subtype: success` may still be an error. */
function foldResult(before: Transcript, event: JsonObject): Transcript {
  const said = textAt(event, 'result');
  const transcript: Transcript = {
    ...before,
    ended: true,
    usage: usageOf(event),
    ...deniedIn(event),
    turns: numberAt(event, 'num_turns') || before.turns,
  };
  if (event['stop_reason'] === 'refusal') return { ...transcript, stop: 'refusal' };
  if (transcript.stop === 'length' || event['stop_reason'] === 'max_tokens') return { ...transcript, stop: 'length' };
  if (event['is_error'] !== true && event['subtype'] === 'success') return { ...transcript, text: said ?? before.text };
  const status = numberAt(event, 'api_error_status');
  const error = said || errorsOf(event) || textAt(event, 'subtype') || 'it failed and gave no reason';
  const limited = status === 429 && transcript.resetsAt !== undefined;
  return {
    ...transcript,
    error,
    ...(limited && { limited }),
    ...(status > 0 && { transient: isTransientStatus(status, error) }),
  };
}

/** The tools that were denied: claude answers without them. */
function deniedIn(event: JsonObject): Partial<Transcript> {
  const denials = objectsAt(event, 'permission_denials');
  if (denials.length === 0) return {};
  const tools = denials.flatMap((denial) => textAt(denial, 'tool_name') ?? []);
  return { permissionDenied: true, deniedTools: [...new Set(tools)] };
}

function errorsOf(event: JsonObject): string {
  const { errors } = event;
  return Array.isArray(errors) ? errors.filter((error) => typeof error === 'string').join('; ') : '';
}

/** Sums the usage per model where it is given: that includes sub-agents, and answers that did not stream. */
function usageOf(event: JsonObject): Usage {
  const models = Object.values(objectAt(event, 'modelUsage')) as JsonObject[];
  const sum = (name: string) => models.reduce((total, model) => total + numberAt(model, name), 0);
  const tokens =
    models.length > 0
      ? {
          inputTokens: sum('inputTokens') + sum('cacheCreationInputTokens'),
          cachedInputTokens: sum('cacheReadInputTokens'),
          outputTokens: sum('outputTokens'),
        }
      : tokensOf(objectAt(event, 'usage'));
  return typeof event['total_cost_usd'] === 'number' ? { ...tokens, usd: event['total_cost_usd'] } : tokens;
}

function tokensOf(usage: JsonObject): Usage {
  return {
    inputTokens: numberAt(usage, 'input_tokens') + numberAt(usage, 'cache_creation_input_tokens'),
    cachedInputTokens: numberAt(usage, 'cache_read_input_tokens'),
    outputTokens: numberAt(usage, 'output_tokens'),
  };
}
