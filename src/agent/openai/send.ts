import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Connections are kept for the next call: making one costs as much as a short answer. Idle ones hold up no process. */
const KEPT = { keepAlive: true, maxFreeSockets: 256 } as const;
const agents = { http: new HttpAgent(KEPT), https: new HttpsAgent(KEPT) };

/**
 * Resolves with the answer's head; its body is then read from it. Not `fetch`: that gives up after five minutes of
 * silence, whatever limit was asked for. A kept connection that the server has closed meanwhile is replaced by a new
 * one: it never saw the request.
 */
export async function send(request: HttpRequest): Promise<IncomingMessage> {
  try {
    return await sendOnce(request);
  } catch (error) {
    if (error instanceof StaleConnection) return sendOnce(request);
    throw error;
  }
}

class StaleConnection extends Error {}

function sendOnce({ method, url, headers, body = '', signal }: HttpRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const [open, agent] = url.startsWith('https:') ? [requestHttps, agents.https] : [requestHttp, agents.http];
    const length = { 'content-length': `${Buffer.byteLength(body)}` };
    const request = open(url, { method, agent, signal, headers: { ...headers, ...(body !== '' && length) } });
    request.once('response', resolve);
    // Stays for the whole life of the connection: what goes wrong after the head reaches the reader of the body.
    request.on('error', (error: NodeJS.ErrnoException) => {
      reject(request.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection() : error);
    });
    request.end(body);
  });
}

/** How long the rest of an answer whose last word was read may take. */
const REST_MS = 1_000;

/** Reads what is left of an answer that nobody needs any more, so that its connection can serve the next call. */
export function letGo(response: IncomingMessage): void {
  if (response.readableEnded || response.destroyed) return;
  const timer = setTimeout(() => response.destroy(), REST_MS).unref();
  response.once('close', () => clearTimeout(timer));
  // Lost by now, or not: the answer is complete.
  response.on('error', () => {});
  response.resume();
}

const MAX_ERROR_BODY = 64 * 1024;

/** The body as text, or the start of it: the answer to a failed request may be anything. */
export async function readText(response: IncomingMessage, limit = MAX_ERROR_BODY): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= limit) break;
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, limit);
}
