import type { IncomingMessage } from 'node:http';
import { urlToHttpOptions } from 'node:url';
import type { Project } from '../../util/project.js';
import { proxyFor } from '../../util/proxy.js';
import { Route } from '../../util/route.js';
import type { RequestLimits } from '../limits.js';

interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Names the proxy, if there is one. Default: none. */
  readonly env?: Project['env'];
  /** Can end the request, and the answer, at any time. */
  readonly limits: RequestLimits;
}

/** Connections are kept for the next call: making one costs as much as a short answer. Idle ones hold up no process. */
const KEPT = { keepAlive: true, maxFreeSockets: 256 } as const;
/** For a proxy to make a tunnel. */
const CONNECT_MS = 30_000;

/**
 * Resolves with the answer's head; the caller then reads its body. Not `fetch`, which gives up after five minutes of
 * silence, whatever the limit. A kept connection that the server has closed never delivered the request: it is sent
 * again on a new one.
 */
export function send({ method, url, env, headers, body = '', limits }: HttpRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { route, path, auth } = addressOf(url, env);
    const all = body === '' ? headers : { ...headers, 'content-length': `${Buffer.byteLength(body)}` };
    const sendOnce = (isFirst: boolean) => {
      if (limits.failure) return reject(new Error(limits.failure.message));
      let isAnswered = false;
      const request = route.request({ method, path, headers: all, auth });
      limits.onStop = () => request.destroy(new Error('stopped'));
      request.once('response', (response) => {
        isAnswered = true;
        resolve(response);
      });
      // Stays until the connection ends: an error after the head reaches the reader of the body.
      request.on('error', (error: NodeJS.ErrnoException) => {
        const isStale = isFirst && !isAnswered && request.reusedSocket && error.code === 'ECONNRESET';
        if (isStale) sendOnce(false);
        else reject(error);
      });
      request.end(body);
    };
    sendOnce(true);
  });
}

interface Address {
  readonly route: Route;
  readonly path: string;
  readonly auth?: string;
}

const DIRECT: Project['env'] = {};
const addresses = new WeakMap<Project['env'], Map<string, Address>>();

/** Cached: a runner calls one address again and again, and parsing it costs as much as a header. */
function addressOf(url: string, env: Project['env'] = DIRECT): Address {
  const known = addresses.get(env)?.get(url);
  if (known) return known;
  const address = takeApart(new URL(url), env);
  addresses.set(env, (addresses.get(env) ?? new Map<string, Address>()).set(url, address));
  return address;
}

function takeApart(url: URL, env: Project['env']): Address {
  const route = new Route(url, { proxy: proxyFor(url, env), connectMs: CONNECT_MS, kept: KEPT });
  const { auth, path } = urlToHttpOptions(url);
  return { route, path: path ?? '/', ...(auth && { auth }) };
}

/**
 * Passes on the body as it comes, until `take` returns `enough`; then reads and drops the rest, so that the connection
 * can serve the next call. Listeners instead of an iterator, which would cost several promises for each piece.
 */
export function streamBody(response: IncomingMessage, take: (chunk: Buffer) => 'enough' | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      if (take(chunk) !== 'enough') return;
      response.off('data', onData);
      letGo(response);
      resolve();
    };
    response.on('data', onData);
    response.once('end', resolve);
    response.on('error', reject);
    // `close` comes after a normal end, too, and making an unused error costs as much as a header.
    response.once('close', () => {
      if (!response.readableEnded) reject(new Error('closed'));
    });
  });
}

/** How long the rest of a complete answer may take. */
const REST_MS = 1_000;

/** Reads and drops the rest of an answer, so that its connection can serve the next call. */
export function letGo(response: IncomingMessage): void {
  if (response.readableEnded || response.destroyed) return;
  const timer = setTimeout(() => response.destroy(), REST_MS).unref();
  response.once('close', () => clearTimeout(timer));
  // The answer is complete: a lost connection does not matter.
  response.on('error', () => {});
  response.resume();
}

const MAX_ERROR_BODY = 64 * 1024;

/** The body as text, or the start of it: the answer to a failed request may be anything. */
export function bodyText(response: IncomingMessage, limit = MAX_ERROR_BODY): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  const read = streamBody(response, (chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    return length >= limit ? 'enough' : undefined;
  });
  return read.then(() => Buffer.concat(chunks).toString('utf8').slice(0, limit));
}
