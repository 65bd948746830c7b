import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/**
 * Resolves with the answer's head; its body is then read from it. Not `fetch`: that gives up after five minutes of
 * silence, whatever limit was asked for. A connection of its own each time, because a kept one may be dead already.
 */
export function send({ method, url, headers, body = '', signal }: HttpRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const open = url.startsWith('https:') ? requestHttps : requestHttp;
    const length = { 'content-length': `${Buffer.byteLength(body)}` };
    const request = open(url, { method, agent: false, signal, headers: { ...headers, ...(body !== '' && length) } });
    request.once('response', resolve);
    // Stays for the whole life of the connection: what goes wrong after the head reaches the reader of the body.
    request.on('error', reject);
    request.end(body);
  });
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
