import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeActionResult } from '../../src/remote/action-result.js';
import { sha256Hex } from '../../src/util/digest.js';

/**
 * What bazel-remote (2.x, as it is without options) demands and does, read from its source: it cannot be had in every
 * place where these tests run. Where it is on the PATH, `npm run test:remote` asks it the same. It takes SHA-256 names
 * only and ignores conditions; a blob must have its digest; an entry must be a valid message, is kept with a field more
 * (the worker's address), and is absent without its blobs.
 */
export async function startBazelRules(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const kept = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const [, kind, hash] = /^\/(?:.*\/)?(ac|cas)\/([a-f0-9]{64})$/.exec(request.url!) ?? [];
    if (!kind || !hash) return void response.writeHead(400).end('resource name must be a SHA256 hash in hex');
    // Names and passwords are all that it knows.
    const isIn = request.headers.authorization === `Basic ${Buffer.from('ci:right').toString('base64')}`;
    if (!isIn) return void response.writeHead(401).end();
    if (request.method === 'PUT') return receive(request, response, (body) => put(kind, hash, body));
    const body =
      kind === 'ac' ? whole(kept.get(`ac/${hash}`)) : hash === EMPTY ? Buffer.alloc(0) : kept.get(`cas/${hash}`);
    response.writeHead(body ? 200 : 404, { 'content-length': body?.length ?? 0 });
    response.end(request.method === 'HEAD' ? undefined : body);
  });

  function put(kind: string, hash: string, body: Buffer): string | undefined {
    if (kind === 'cas') {
      if (sha256Hex(body) !== hash) return 'hash mismatch';
      kept.set(`cas/${hash}`, body);
      return undefined;
    }
    const result = decodeActionResult(body);
    const problem = result ? result.files.map(problemOf).find(Boolean) : 'cannot parse';
    if (problem !== undefined) return problem;
    // execution_metadata (9): { worker (1) }
    kept.set(`ac/${hash}`, Buffer.concat([body, Buffer.from([9 * 8 + 2, 11, 10, 9]), Buffer.from('127.0.0.1')]));
    return undefined;
  }

  function whole(entry: Buffer | undefined): Buffer | undefined {
    const files = entry && decodeActionResult(entry)!.files;
    const isThere = files?.every(
      ({ digest, bytes }) => digest === EMPTY || kept.get(`cas/${digest}`)?.length === bytes,
    );
    return isThere ? entry : undefined;
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/team`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const EMPTY = sha256Hex('');

function problemOf({ path, digest, bytes }: { path: string; digest: string; bytes: number }): string | undefined {
  if (path === '') return 'empty path';
  if (path.startsWith('/')) return 'absolute path in output file';
  if (bytes < 0) return 'digest has negative SizeBytes';
  return /^[a-f0-9]{64}$/.test(digest) ? undefined : 'invalid hash';
}

function receive(request: IncomingMessage, response: ServerResponse, put: (body: Buffer) => string | undefined): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const hasLength = request.headers['content-length'] !== undefined;
    const problem = hasLength ? put(Buffer.concat(chunks)) : 'PUT without Content-Length';
    response.writeHead(problem === undefined ? 200 : 400).end(problem);
  });
}
