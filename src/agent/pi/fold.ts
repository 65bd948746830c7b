import type { JsonObject } from '../../model/json.js';
import { addUsage, type Usage } from '../../model/outcome.js';
import { numberAt, objectAt, objectsAt, readEvent, textAt } from '../read-event.js';
import { endTool, startTool } from '../tool-calls.js';
import { type Transcript, withGarbage } from '../transcript.js';

const UPDATE = '{"type":"message_update"';

/** One line of `pi --mode json`. It always exits with 0: the last assistant message shows how it went. */
export function foldPi(transcript: Transcript, line: string): Transcript {
  // Each repeats the whole message so far; the end event has it once.
  if (line.startsWith(UPDATE)) return transcript;
  const event = readEvent(line);
  if (!event) return withGarbage(transcript, line);
  switch (event.type) {
    case 'message_end':
      return foldMessage(transcript, objectAt(event, 'message'));
    case 'tool_execution_start':
      return foldToolStart(transcript, event);
    case 'tool_execution_end':
      return endTool(transcript, textAt(event, 'toolCallId') ?? '', event['isError'] === true);
    case 'agent_end':
      return { ...transcript, ended: true };
    case 'auto_retry_start':
      return { ...transcript, retried: true };
    default:
      return transcript;
  }
}

/** pi itself may retry a failed answer: only the last one counts, but all are paid for. */
function foldMessage(before: Transcript, message: JsonObject): Transcript {
  if (message['role'] !== 'assistant') return before;
  const { error: _error, stop: _stop, ...rest } = before;
  const model = textAt(message, 'model');
  const usage = usageOf(objectAt(message, 'usage'));
  const transcript: Transcript = {
    ...rest,
    text: objectsAt(message, 'content')
      .filter((part) => part['type'] === 'text')
      .map((part) => textAt(part, 'text') ?? '')
      .join(''),
    usage: before.turns === 0 ? usage : addUsage(before.usage, usage),
    turns: before.turns + 1,
    ...(model !== undefined && { model }),
  };
  switch (message['stopReason']) {
    case 'length':
      return { ...transcript, stop: 'length' };
    case 'error':
    case 'aborted':
      return foldError(transcript, textAt(message, 'errorMessage') ?? `the answer was ${message['stopReason']}`);
    default:
      return transcript;
  }
}

function foldError(transcript: Transcript, error: string): Transcript {
  return /content_filter|refus/i.test(error) ? { ...transcript, stop: 'refusal' } : { ...transcript, error };
}

function foldToolStart(transcript: Transcript, event: JsonObject): Transcript {
  const name = textAt(event, 'toolName') ?? 'tool';
  const args = objectAt(event, 'args');
  const path = textAt(args, 'path');
  const detail = path ?? textAt(args, 'command') ?? textAt(args, 'pattern');
  return startTool(transcript, {
    id: textAt(event, 'toolCallId') ?? '',
    name,
    ...(detail !== undefined && { detail }),
    ...(path !== undefined && name === 'read' && { reads: path }),
    ...(path !== undefined && (name === 'write' || name === 'edit') && { writes: path }),
  });
}

function usageOf(usage: JsonObject): Usage {
  const cost = objectAt(usage, 'cost');
  return {
    // Tokens written to the provider's cache are input, too.
    inputTokens: numberAt(usage, 'input') + numberAt(usage, 'cacheWrite'),
    cachedInputTokens: numberAt(usage, 'cacheRead'),
    outputTokens: numberAt(usage, 'output'),
    ...(typeof cost['total'] === 'number' && { usd: cost['total'] }),
  };
}
