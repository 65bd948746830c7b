import type { RunnerConfig } from '../../model/config.js';
import type { JsonObject } from '../../model/json.js';
import type { RunnerRequest } from '../runner.js';

export const DEFAULT_BASE_URL = 'https://api.openai.com/v1';

/** The body of a chat completion. No tools: this runner only talks. */
export function buildOpenaiBody(request: RunnerRequest, config: RunnerConfig): JsonObject {
  const thinking = request.thinking ?? config.thinking;
  const user = { role: 'user', content: request.task };
  return {
    model: request.model ?? config.model ?? '',
    messages: request.systemPrompt ? [{ role: 'system', content: request.systemPrompt }, user] : [user],
    stream: true,
    stream_options: { include_usage: true },
    ...(request.answer === 'json' && { response_format: { type: 'json_object' } }),
    ...(thinking !== undefined && thinking !== 'off' && { reasoning_effort: thinking }),
  };
}

export function completionsUrl(config: RunnerConfig): string {
  return `${(config.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '')}/chat/completions`;
}

/** Without a setting, a provider's key goes only to that provider's own address. */
export function keyVariable(config: RunnerConfig): string | undefined {
  return config.apiKeyEnv ?? (config.baseUrl === undefined ? 'OPENAI_API_KEY' : undefined);
}
