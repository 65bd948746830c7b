import type { JsonObject } from '../../model/json.js';
import { numberAt, objectAt, objectsAt, readEvent, textAt } from '../read-event.js';
import { endTool, startTool, withPath } from '../tool-calls.js';
import { type Transcript, withGarbage } from '../transcript.js';

/** One line of `codex exec --json`. `error` events report its own retries; `turn.failed` is final. */
export function foldCodex(transcript: Transcript, line: string): Transcript {
  const event = readEvent(line);
  if (!event) return withGarbage(transcript, line);
  switch (event.type) {
    case 'turn.started':
      return { ...transcript, turns: transcript.turns + 1 };
    case 'item.started':
      return foldItemStart(transcript, objectAt(event, 'item'));
    case 'item.completed':
      return foldItem(transcript, objectAt(event, 'item'));
    case 'turn.completed':
      return foldUsage({ ...transcript, ended: true }, objectAt(event, 'usage'));
    case 'error':
      return foldNews(transcript, textAt(event, 'message') ?? '');
    case 'turn.failed':
      return foldFailure(transcript, textAt(objectAt(event, 'error'), 'message') ?? 'it failed and gave no reason');
    default:
      return transcript;
  }
}

/** About twenty-five seconds. codex itself waits for ever, and each message about it resets the idle timeout. */
const MOST_WAITS = 3;

function foldNews(transcript: Transcript, message: string): Transcript {
  const waiting = /waiting for network(?: \((.*)\))?/.exec(message);
  if (!waiting) return message.startsWith('Reconnecting') ? { ...transcript, retried: true } : transcript;
  const waits = (transcript.waits ?? 0) + 1;
  if (waits < MOST_WAITS) return { ...transcript, waits, retried: true };
  return { ...transcript, waits, retried: true, waitsInVain: true, error: waiting[1] ?? message };
}

const TOOL_ITEMS = new Set(['command_execution', 'file_change', 'mcp_tool_call', 'web_search']);

function foldItemStart(transcript: Transcript, item: JsonObject): Transcript {
  const type = textAt(item, 'type') ?? '';
  if (!TOOL_ITEMS.has(type)) return transcript;
  const [change] = objectsAt(item, 'changes');
  const detail =
    textAt(item, 'command') ?? textAt(item, 'tool') ?? textAt(item, 'query') ?? (change && textAt(change, 'path'));
  const id = textAt(item, 'id') ?? '';
  return startTool(transcript, { id, name: type, ...(detail !== undefined && { detail }) });
}

function foldItem(last: Transcript, item: JsonObject): Transcript {
  const before = { ...last, waits: 0 };
  const type = textAt(item, 'type') ?? '';
  if (type === 'agent_message') return { ...before, text: textAt(item, 'text') ?? '' };
  if (!TOOL_ITEMS.has(type)) return before;
  const id = textAt(item, 'id') ?? '';
  // Some tools are reported only once they are done.
  const transcript = endTool(before.toolsUnderWay[id] ? before : foldItemStart(before, item), id, false);
  if (type !== 'file_change' || item['status'] === 'failed') return transcript;
  const paths = objectsAt(item, 'changes').map((change) => textAt(change, 'path'));
  return { ...transcript, filesWritten: paths.reduce(withPath, transcript.filesWritten) };
}

/** The input includes cached tokens; codex reports no cost. */
function foldUsage(transcript: Transcript, usage: JsonObject): Transcript {
  const cached = numberAt(usage, 'cached_input_tokens');
  return {
    ...transcript,
    usage: {
      inputTokens: Math.max(0, numberAt(usage, 'input_tokens') - cached),
      cachedInputTokens: cached,
      outputTokens: numberAt(usage, 'output_tokens'),
    },
  };
}

function foldFailure(transcript: Transcript, error: string): Transcript {
  if (/reason: content_filter/.test(error)) return { ...transcript, ended: true, stop: 'refusal' };
  if (/reason: max_output_tokens/.test(error)) return { ...transcript, ended: true, stop: 'length' };
  return { ...transcript, ended: true, error };
}
