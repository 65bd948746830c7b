import type { OfferedTool } from './tools.js';
import { type Answer, halves, type Protocol, type SseEvent, textOf } from './wire.js';

interface Item {
  readonly type?: string;
  readonly role?: string;
  readonly content?: unknown;
}

/** OpenAI responses. */
export const responses: Protocol = {
  read(body) {
    const input = body['input'];
    const items = (typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? [])) as Item[];
    const ofRole = (...roles: string[]) =>
      items.filter((item) => roles.includes(item.role ?? '')).map((item) => textOf(item.content));
    const calls = items.filter((item) => item.type === 'function_call' || item.type === 'custom_tool_call');
    return {
      model: String(body['model'] ?? ''),
      system: [String(body['instructions'] ?? ''), ...ofRole('system', 'developer')].join('\n'),
      prompt: ofRole('user').join('\n'),
      turn: ofRole('assistant').length + calls.length,
      stream: body['stream'] === true,
      tools: (body['tools'] ?? []) as OfferedTool[],
    };
  },

  events(answer) {
    const events: SseEvent[] = [named({ type: 'response.created', response: head(answer, 'in_progress') })];
    outputOf(answer).forEach((item, index) => {
      events.push(named({ type: 'response.output_item.added', output_index: index, item }));
      if (item.type === 'message') {
        for (const delta of halves(answer.step.text)) {
          const place = { output_index: index, content_index: 0, item_id: item.id };
          events.push(named({ type: 'response.output_text.delta', ...place, delta }));
        }
      }
      events.push(named({ type: 'response.output_item.done', output_index: index, item }));
    });
    const status = statusOf(answer);
    return [...events, named({ type: `response.${status}`, response: responses.whole(answer) })];
  },

  whole: (answer) => ({
    ...head(answer, statusOf(answer)),
    ...(statusOf(answer) === 'incomplete' && {
      incomplete_details: { reason: answer.step.end === 'length' ? 'max_output_tokens' : 'content_filter' },
    }),
    output: outputOf(answer),
    usage: usageOf(answer),
  }),

  error: (status) => ({ error: { message: `scripted status ${status}`, type: 'scripted', code: null } }),
  streamError: named({
    type: 'response.failed',
    response: {
      id: 'resp_failed',
      status: 'failed',
      error: { code: 'server_error', message: 'the server had an error' },
    },
  }),
};

function named(data: { readonly type: string; readonly [name: string]: unknown }): SseEvent {
  return { event: data.type, data };
}

function head(answer: Answer, status: string) {
  return { id: `resp_${answer.id}`, object: 'response', created_at: 1_700_000_000, status, model: answer.model };
}

function statusOf({ step }: Answer): 'completed' | 'incomplete' {
  return step.end === 'length' || step.end === 'refusal' ? 'incomplete' : 'completed';
}

function outputOf({ id, step, tool }: Answer) {
  const content = [{ type: 'output_text', text: step.text, annotations: [] }];
  const message = { type: 'message', id: `msg_${id}`, status: 'completed', role: 'assistant', content };
  const items: ({ type: string; id: string } & Record<string, unknown>)[] = step.text === '' ? [] : [message];
  if (!tool) return items;
  const { name, namespace } = tool;
  const call = { id: `fc_${id}`, call_id: `call_${id}`, name, ...(namespace && { namespace }), status: 'completed' };
  return tool.custom === undefined
    ? [...items, { type: 'function_call', ...call, arguments: JSON.stringify(tool.arguments) }]
    : [...items, { type: 'custom_tool_call', ...call, input: tool.custom }];
}

function usageOf({ usage }: Answer) {
  return {
    input_tokens: usage.input + usage.cached,
    input_tokens_details: { cached_tokens: usage.cached },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.cached + usage.output,
  };
}
