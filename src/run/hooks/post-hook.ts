import { createHmac } from 'node:crypto';
import { RequestLimits } from '../../agent/limits.js';
import { letGo, send } from '../../agent/openai/send.js';
import type { Hook } from '../../model/hooks.js';
import type { Project } from '../../util/project.js';
import { delay } from '../../util/timer.js';
import type { HookCall } from './hook-call.js';

type Server = Extract<Hook, { url: string }>;
type Answer = { readonly failed: string; readonly again?: boolean } | undefined;

const FIRST_WAIT_MS = 500;

/** Posts the body, and again while the server is away. Redirects are not followed: a person chose the address. */
export async function postHook(hook: Server, call: HookCall, project: Project): Promise<Answer> {
  const secret = hook.secretEnv === undefined ? undefined : project.env[hook.secretEnv];
  if (hook.secretEnv !== undefined && !secret) return { failed: `${hook.secretEnv} is not set, so nothing was sent` };
  for (let tried = 0; ; tried += 1) {
    const answer = await postOnce(hook, call, { secret, now: project.clock.now() });
    if (!answer?.again || tried >= hook.retries) return answer;
    await delay(FIRST_WAIT_MS * 2 ** tried);
  }
}

interface Signing {
  readonly secret?: string;
  readonly now: number;
}

async function postOnce({ url, timeoutMs }: Server, call: HookCall, signing: Signing): Promise<Answer> {
  const limits = new RequestLimits({ timeoutMs });
  const headers = { 'content-type': 'application/json', ...headersOf(call, signing) };
  try {
    const response = await send({ method: 'POST', url, headers, body: call.body, limits });
    const { statusCode = 0 } = response;
    letGo(response);
    if (statusCode >= 200 && statusCode < 300) return undefined;
    return { failed: `the server answered ${statusCode}`, again: statusCode >= 500 || statusCode === 429 };
  } catch (error) {
    const why = limits.failure ? `no answer within ${timeoutMs} ms` : (error as NodeJS.ErrnoException).code;
    return { failed: why ?? 'the connection was lost', again: true };
  } finally {
    limits.clear();
  }
}

/** The time is signed too, so that the receiver can refuse an old message that somebody sends again. */
function headersOf({ event, runId, body }: HookCall, { secret, now }: Signing): Record<string, string> {
  const time = String(Math.floor(now / 1000));
  const named = { 'x-taskflow-event': event, 'x-taskflow-run': runId, 'x-taskflow-time': time };
  if (secret === undefined) return named;
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
  return { ...named, 'x-taskflow-signature': `sha256=${signature}` };
}
