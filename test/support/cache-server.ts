import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a request was, as the server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization?: string;
}

/** A server that keeps what is PUT, as nginx with WebDAV does, and that can be made to misbehave. */
export interface CacheServer {
  readonly url: string;
  readonly kept: Map<string, Buffer>;
  readonly seen: SeenRequest[];
  /** Lets only the first of two create an object, and gives each version a tag; else it overwrites. */
  isConditional: boolean;
  /** Answers instead of the server, if it returns true. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Paths of the kept entries; leases and probes are none. */
  entries(): string[];
  blobs(): string[];
  count(method: string, part?: string): number;
  stop(): Promise<void>;
}

export async function startCacheServer(): Promise<CacheServer> {
  const kept = new Map<string, Buffer>();
  const seen: SeenRequest[] = [];
  const server: Server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    seen.push({ method, path: url, ...(headers.authorization && { authorization: headers.authorization }) });
    if (state.misbehave?.(request, response)) return;
    if (method === 'PUT') {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        if (state.isConditional && !mayPut(request, tagOf(kept.get(url)))) return void response.writeHead(412).end();
        kept.set(url, body);
        response.writeHead(201, state.isConditional ? { etag: tagOf(body) } : {}).end();
      });
      return;
    }
    const found = kept.get(url);
    const tag = state.isConditional && found && { etag: tagOf(found) };
    response.writeHead(found ? 200 : 404, { 'content-length': found?.length ?? 0, ...tag });
    response.end(method === 'HEAD' ? undefined : found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state: CacheServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/team`,
    kept,
    seen,
    misbehave: undefined,
    isConditional: false,
    entries: () => [...kept].flatMap(([path, body]) => (body.includes('{"shared":1') ? [path] : [])),
    blobs: () => [...kept.keys()].filter((path) => path.includes('/cas/')),
    count: (method, part = '') => seen.filter((each) => each.method === method && each.path.includes(part)).length,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return state;
}

function tagOf(body: Buffer | undefined): string | undefined {
  return body && `"${createHash('sha256').update(body).digest('hex')}"`;
}

/** `If-None-Match: *` and `If-Match` of a PUT, over an object that has this tag or is not there. */
export function mayPut({ headers }: Pick<IncomingMessage, 'headers'>, tag: string | undefined): boolean {
  if (headers['if-none-match'] === '*') return tag === undefined;
  return headers['if-match'] === undefined || headers['if-match'] === tag;
}
