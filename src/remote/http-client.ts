import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { onAbort } from '../util/on-abort.js';
import { Route } from '../util/route.js';
import { type ClientLimits, Deadlines } from './deadlines.js';
import type { Method, Protocol } from './protocol.js';

export interface Exchange {
  readonly method: Method;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  /** Takes the body of an answer with status 200, piece by piece. */
  readonly take?: (chunk: Buffer) => void;
  /** Of the answer's body; one that is longer is a failure. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

export interface RequestBody {
  readonly bytes: number;
  /** Called again if the request has to be sent again. */
  send(request: ClientRequest): void;
}

/** The server's answer, whatever its status; or why there was none. */
export type Exchanged =
  | { readonly status: number; readonly headers: IncomingHttpHeaders }
  | { readonly failed: string; readonly isStale?: true };

const MOST_SOCKETS = 16;

/** One server, with connections that are kept for the next request. Redirects are answers like any other. */
export class HttpClient {
  readonly #route: Route;
  readonly #deadlines: Deadlines;

  constructor({ origin }: Pick<Protocol, 'origin'>, limits: ClientLimits & { readonly proxy: URL | undefined }) {
    const kept = { keepAlive: true, maxSockets: MOST_SOCKETS, maxFreeSockets: MOST_SOCKETS };
    this.#route = new Route(origin, { kept, proxy: limits.proxy, connectMs: limits.connectMs });
    this.#deadlines = new Deadlines(limits);
  }

  close(): void {
    this.#route.close();
  }

  /** A kept connection that the server has closed meanwhile never saw the request: it is sent once more. */
  async exchange(exchange: Exchange): Promise<Exchanged> {
    const first = await this.#once(exchange);
    return 'isStale' in first ? this.#once(exchange) : first;
  }

  #once({ method, path, headers, body, take, maxBytes, signal }: Exchange): Promise<Exchanged> {
    return new Promise((resolve) => {
      if (signal?.aborted) return void resolve({ failed: whyAborted(signal) });
      const sent = body ? { ...headers, 'content-length': String(body.bytes) } : headers;
      const request = this.#route.request({ method, path, headers: sent });
      let isOver = false;
      const end = (result: Exchanged) => {
        if (isOver) return;
        isOver = true;
        forgetTime();
        forgetSignal();
        if ('failed' in result) request.destroy();
        resolve(result);
      };
      const fail = (failed: string) => end({ failed });
      const forgetTime = this.#deadlines.watch({ request, fail });
      const forgetSignal = onAbort(signal, () => fail(whyAborted(signal!)));
      request.on('error', (error: NodeJS.ErrnoException) => {
        const isStale = request.reusedSocket && error.code === 'ECONNRESET';
        end({ failed: wordsOf(error), ...(isStale && { isStale }) });
      });
      request.once('response', (response) => receive(response, { take, maxBytes, end }));
      if (body) body.send(request);
      else request.end();
    });
  }
}

function receive(
  response: IncomingMessage,
  { take, maxBytes, end }: Pick<Exchange, 'take' | 'maxBytes'> & { readonly end: (result: Exchanged) => void },
): void {
  const { statusCode: status = 0, headers } = response;
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) end({ failed: `its answer is longer than ${maxBytes} bytes` });
    else if (status === 200) take?.(chunk);
  });
  response.once('end', () => end(response.complete ? { status, headers } : { failed: 'the answer was cut short' }));
  response.on('error', () => end({ failed: 'the answer was cut short' }));
  response.once('close', () => end({ failed: 'the answer was cut short' }));
}

function wordsOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ECONNREFUSED') return 'no server answers there';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its name is not known';
  return message || code || 'the connection failed';
}

/** The breaker says why; a run that is interrupted does not. */
function whyAborted({ reason }: AbortSignal): string {
  return typeof reason === 'string' ? reason : 'stopped';
}
