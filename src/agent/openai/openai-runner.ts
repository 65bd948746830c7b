import type { RunnerConfig } from '../../model/config.js';
import type { Failure } from '../../model/failure.js';
import { DEFAULT_LIMITS } from '../../model/limits.js';
import type { Project } from '../../util/project.js';
import { RequestLimits } from '../limits.js';
import type { Runner, RunnerRequest, RunnerResult } from '../runner.js';
import { EMPTY_TRANSCRIPT, type Transcript, toResult } from '../transcript.js';
import { buildOpenaiBody, completionsUrl, DEFAULT_BASE_URL, keyVariable } from './build-request.js';
import { connectionFailure, statusFailure } from './http-failure.js';
import { keyRefusal } from './key-refusal.js';

const VERSION_TIMEOUT_MS = 5_000;

/** Chat completions over HTTP, for any compatible server. The key goes into one header and nowhere else. */
export function openaiRunner(name: string, config: RunnerConfig, project: Project): Runner {
  const { model, concurrency, ratePerMinute, thinking } = config;
  const keyName = keyVariable(config);
  const headersFor = (env: RunnerRequest['env']): { headers: Record<string, string>; key: string } => {
    const key = (keyName === undefined ? '' : (env[keyName] ?? project.env[keyName] ?? '')).trim();
    const headers = { accept: 'text/event-stream, application/json', 'content-type': 'application/json' };
    return { key, headers: key === '' ? headers : { ...headers, authorization: `Bearer ${key}` } };
  };

  const url = `${(config.baseUrl ?? DEFAULT_BASE_URL).replace(/\/+$/, '')}/models`;
  const asked = completionsUrl(config);
  /** Loaded with the first call: a run that finds all its answers in the store needs no network. */
  let complete: typeof import('./complete.js').complete | undefined;

  async function run(request: RunnerRequest): Promise<RunnerResult> {
    if ((request.model ?? model ?? '') === '') {
      const hint = `set \`runners.${name}.model\``;
      return toResult({ ...EMPTY_TRANSCRIPT, error: 'no model is named', hint, unasked: true }, { who: name });
    }
    const { headers, key } = headersFor(request.env);
    const refused = key === '' ? undefined : keyRefusal(name, config);
    if (refused) return toResult({ ...EMPTY_TRANSCRIPT, ...refused, unasked: true }, { who: name });
    const limits = new RequestLimits(request);
    complete ??= (await import('./complete.js')).complete;
    const transcript = await complete({
      url: asked,
      headers,
      env: project.env,
      body: buildOpenaiBody(request, config),
      limits,
      keyName,
      maxBytes: request.maxOutputBytes ?? DEFAULT_LIMITS.outputBytes,
      listener: request,
    });
    limits.clear();
    return toResult(withoutKey(transcript, key), { who: name, failure: limits.failure });
  }

  async function version(): Promise<{ version: string } | { failure: Failure }> {
    const { headers, key } = headersFor(project.env);
    const refused = key === '' ? undefined : keyRefusal(name, config);
    if (refused) return { failure: { code: 'runner', message: refused.error, hint: refused.hint } };
    const limits = new RequestLimits({ timeoutMs: VERSION_TIMEOUT_MS });
    const fail = ({ error = '', hint }: Pick<Transcript, 'error' | 'hint'>): { failure: Failure } => ({
      failure: { code: 'runner', message: hide(`${name}: ${error}`, key), ...(hint !== undefined && { hint }) },
    });
    const { bodyText, send } = await import('./send.js');
    try {
      const response = await send({ method: 'GET', url, env: project.env, headers, limits });
      const body = await bodyText(response);
      const status = response.statusCode ?? 0;
      return status < 400 ? { version: 'chat-completions' } : fail(statusFailure(response, body, keyName));
    } catch (error) {
      return limits.failure ? { failure: limits.failure } : fail(connectionFailure(error, url));
    } finally {
      limits.clear();
    }
  }

  return {
    name,
    type: 'openai',
    reportsCost: false,
    canAnswerJson: true,
    settings: { baseUrl: config.baseUrl ?? DEFAULT_BASE_URL, ...(thinking !== undefined && { thinking }) },
    ...(model !== undefined && { defaultModel: model }),
    ...(concurrency !== undefined && { concurrency }),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    probe: `asks ${url}${keyName === undefined ? '' : ` with the key in ${keyName}`}`,
    run,
    version,
  };
}

/** Providers quote the key in error messages, which would reach the journal. */
function withoutKey(transcript: Transcript, key: string): Transcript {
  const { error, garbage } = transcript;
  if (error === undefined && garbage === undefined) return transcript;
  return {
    ...transcript,
    ...(error !== undefined && { error: hide(error, key) }),
    ...(garbage !== undefined && { garbage: hide(garbage, key) }),
  };
}

function hide(text: string, key: string): string {
  return key.length < 4 ? text : text.replaceAll(key, '***');
}
