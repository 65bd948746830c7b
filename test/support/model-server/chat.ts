import { type Answer, halves, type Protocol, type SseEvent, textOf } from './wire.js';

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

/** OpenAI chat completions. */
export const chat: Protocol = {
  read(body) {
    const messages = (body['messages'] ?? []) as Message[];
    const ofRole = (...roles: string[]) =>
      messages.filter((message) => roles.includes(message.role)).map((message) => textOf(message.content));
    const tools = (body['tools'] ?? []) as { function?: { name: string } }[];
    return {
      model: String(body['model'] ?? ''),
      system: ofRole('system', 'developer').join('\n'),
      prompt: ofRole('user').join('\n'),
      turn: ofRole('assistant').length,
      stream: body['stream'] === true,
      tools: tools.flatMap((tool) => (tool.function ? [{ name: tool.function.name }] : [])),
    };
  },

  events(answer) {
    const chunk = (delta: object, finish: string | null = null): SseEvent => ({
      data: { ...head(answer, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: finish }] },
    });
    const refused = answer.step.end === 'refusal';
    return [
      chunk({ role: 'assistant', content: '' }),
      ...halves(answer.step.text).map((content) => chunk(refused ? { refusal: content } : { content })),
      ...toolCalls(answer).map((call) => chunk({ tool_calls: [{ index: 0, ...call }] })),
      chunk({}, finishReason(answer)),
      { data: { ...head(answer, 'chat.completion.chunk'), choices: [], usage: usageOf(answer) } },
      { data: '[DONE]' },
    ];
  },

  whole(answer) {
    const message = { role: 'assistant', content: answer.step.text, tool_calls: toolCalls(answer) };
    return {
      ...head(answer, 'chat.completion'),
      choices: [{ index: 0, message, finish_reason: finishReason(answer) }],
      usage: usageOf(answer),
    };
  },

  error: (status) => ({ error: { message: `scripted status ${status}`, type: 'scripted', code: null } }),
  streamError: { data: { error: { message: 'the server had an error while answering', type: 'server_error' } } },
};

function head(answer: Answer, object: string) {
  return { id: answer.id, object, created: 1_700_000_000, model: answer.model };
}

function toolCalls({ id, tool }: Answer) {
  if (!tool) return [];
  const fn = { name: tool.name, arguments: JSON.stringify(tool.arguments) };
  return [{ id: `call_${id}`, type: 'function', function: fn }];
}

function finishReason({ step, tool }: Answer): string {
  if (step.end === 'length') return 'length';
  if (step.end === 'refusal') return 'content_filter';
  return tool ? 'tool_calls' : 'stop';
}

function usageOf({ usage }: Answer) {
  return {
    prompt_tokens: usage.input + usage.cached,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.cached + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached },
  };
}
