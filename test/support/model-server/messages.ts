import { type Answer, halves, type Protocol, type SseEvent, textOf } from './wire.js';

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

/** Anthropic messages. */
export const messages: Protocol = {
  read(body) {
    const all = (body['messages'] ?? []) as Message[];
    return {
      model: String(body['model'] ?? ''),
      system: textOf(body['system']),
      prompt: all
        .filter((message) => message.role === 'user')
        .map((message) => textOf(message.content))
        .join('\n'),
      turn: all.filter((message) => message.role === 'assistant').length,
      stream: body['stream'] === true,
      tools: ((body['tools'] ?? []) as { name: string }[]).map(({ name }) => ({ name })),
    };
  },

  events(answer) {
    const blocks: SseEvent[] = [];
    contentOf(answer).forEach((block, index) => {
      const isText = block.type === 'text';
      const start = isText ? { ...block, text: '' } : { ...block, input: {} };
      const pieces = isText ? halves(block.text) : [JSON.stringify(block.input)];
      blocks.push(named({ type: 'content_block_start', index, content_block: start }));
      for (const piece of pieces) {
        const delta = isText ? { type: 'text_delta', text: piece } : { type: 'input_json_delta', partial_json: piece };
        blocks.push(named({ type: 'content_block_delta', index, delta }));
      }
      blocks.push(named({ type: 'content_block_stop', index }));
    });
    const usage = usageOf(answer);
    const message = { ...head(answer), content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
    return [
      named({ type: 'message_start', message }),
      ...blocks,
      named({ type: 'message_delta', delta: { stop_reason: stopReason(answer), stop_sequence: null }, usage }),
      named({ type: 'message_stop' }),
    ];
  },

  whole: (answer) => ({
    ...head(answer),
    content: contentOf(answer),
    stop_reason: stopReason(answer),
    usage: usageOf(answer),
  }),

  error: (status) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'api_error', message: `scripted status ${status}` },
  }),
  streamError: named({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
};

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: object };

function contentOf({ id, step, tool }: Answer): Block[] {
  const text: Block[] = step.text === '' ? [] : [{ type: 'text', text: step.text }];
  return tool ? [...text, { type: 'tool_use', id: `toolu_${id}`, name: tool.name, input: tool.arguments }] : text;
}

function named(data: { readonly type: string; readonly [name: string]: unknown }): SseEvent {
  return { event: data.type, data };
}

function head(answer: Answer) {
  return { id: `msg_${answer.id}`, type: 'message', role: 'assistant', model: answer.model, stop_sequence: null };
}

function stopReason({ step, tool }: Answer): string {
  if (step.end === 'length') return 'max_tokens';
  if (step.end === 'refusal') return 'refusal';
  return tool ? 'tool_use' : 'end_turn';
}

function usageOf({ usage }: Answer) {
  return {
    input_tokens: usage.input,
    cache_read_input_tokens: usage.cached,
    cache_creation_input_tokens: 0,
    output_tokens: usage.output,
  };
}
