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
  /** Answers instead of the server, if it returns true. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Paths of the kept entries. */
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
        kept.set(url, Buffer.concat(chunks));
        response.writeHead(201).end();
      });
      return;
    }
    const found = kept.get(url);
    response.writeHead(found ? 200 : 404, { 'content-length': found?.length ?? 0 });
    response.end(method === 'HEAD' ? undefined : found);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const state: CacheServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/team`,
    kept,
    seen,
    misbehave: undefined,
    entries: () => [...kept.keys()].filter((path) => path.includes('/ac/')),
    blobs: () => [...kept.keys()].filter((path) => path.includes('/cas/')),
    count: (method, part = '') => seen.filter((each) => each.method === method && each.path.includes(part)).length,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return state;
}
