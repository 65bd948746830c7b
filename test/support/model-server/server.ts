import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chat } from './chat.js';
import { messages } from './messages.js';
import { responses } from './responses.js';
import { readScript, type Step } from './script.js';
import { sendAnswer, sendJson } from './send-answer.js';
import { toolCall } from './tools.js';
import type { ModelCall, Protocol } from './wire.js';

/** The model behind an agent, on loopback: does what the prompt (or the test) says, and remembers every call. */
export interface ModelServer {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly calls: readonly ModelCall[];
  /** Decides a call instead of its prompt; undefined leaves it to the prompt. */
  script: ((call: ModelCall, index: number) => Partial<Step> | undefined) | undefined;
  /** Calls whose prompt holds this text. */
  callsWith(text: string): ModelCall[];
  reset(): void;
  close(): Promise<void>;
}

const PROTOCOLS: readonly (readonly [suffix: string, name: ModelCall['protocol'], protocol: Protocol])[] = [
  ['/chat/completions', 'chat', chat],
  ['/responses', 'responses', responses],
  ['/messages', 'messages', messages],
];

export async function startModelServer(port = 0): Promise<ModelServer> {
  const calls: ModelCall[] = [];
  const refused = new Map<string, number>();
  const http = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: { message: String(error) } });
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const found = PROTOCOLS.find(([suffix]) => path.endsWith(suffix));
    if (request.method !== 'POST' || !found) return sendOther(path, response, calls);
    const [, name, protocol] = found;
    const body = JSON.parse(await readBody(request)) as Record<string, unknown>;
    const call: ModelCall = { protocol: name, path, headers: request.headers, body, ...protocol.read(body) };
    const index = calls.push(call) - 1;
    const step = stepFor(call, server.script?.(call, index));
    if (step.status && countUp(refused, `${call.turn}:${call.prompt}`) <= step.status.times) {
      const { code, retryAfter, headers, body: said = protocol.error(code) } = step.status;
      return sendJson(response, code, said, {
        ...headers,
        ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
      });
    }
    const tool = step.tool && toolCall(step.tool, call.tools);
    const answer = {
      id: `${index + 1}`,
      model: step.model ?? call.model,
      step,
      usage: step.usage,
      ...(tool && { tool }),
    };
    await sendAnswer(response, protocol, call, answer);
  }

  await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve));
  const server: ModelServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    calls,
    script: undefined,
    callsWith: (text) => calls.filter((call) => call.prompt.includes(text)),
    reset() {
      calls.length = 0;
      refused.clear();
      server.script = undefined;
    },
    close: () => closeServer(http),
  };
  return server;
}

/** The step of the conversation's turn; the last one when there are more turns than steps. */
function stepFor(call: ModelCall, decided: Partial<Step> | undefined): Step {
  const steps = readScript(decided ? '' : call.prompt);
  const step = steps[Math.min(call.turn, steps.length - 1)]!;
  return { ...step, ...(decided && { text: '' }), ...decided };
}

function countUp(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

/** What clients ask for besides answers; and, for tests in other processes, what was asked so far. */
function sendOther(path: string, response: ServerResponse, calls: readonly ModelCall[]): void {
  if (path === '/calls') sendJson(response, 200, { count: calls.length, calls });
  else if (path.endsWith('/count_tokens')) sendJson(response, 200, { input_tokens: 100 });
  else if (path.endsWith('/models')) sendJson(response, 200, { object: 'list', data: [] });
  else sendJson(response, 404, { error: { message: `nothing at ${path}` } });
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function closeServer(http: Server): Promise<void> {
  http.closeAllConnections();
  return new Promise((resolve) => http.close(() => resolve()));
}
