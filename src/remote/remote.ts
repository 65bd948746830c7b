import { createReadStream } from 'node:fs';
import { HttpClient, type RequestBody } from './http-client.js';
import type { Item, Method, Protocol } from './protocol.js';
import type { RemoteSettings } from './settings.js';

/** Beside the time that a large body takes at 256 KB a second. */
const TOTAL_MS = 10_000;
const SLOWEST_PER_MS = 256;

/** `bytes`: what the body may have. */
export interface Download {
  readonly bytes: number;
  readonly take: (chunk: Buffer) => void;
}

export type Upload = { readonly digest: string } & (
  | { readonly data: Buffer }
  | { readonly file: string; readonly bytes: number }
);

/** `refused`: the server does not let us. `failed`: it has no use, or did not answer; `isServers`: it did. */
export type Answer =
  | { readonly found: true }
  | { readonly absent: true }
  | { readonly refused: string }
  | { readonly failed: string; readonly isServers?: true };

/** Entries and blobs on a server: get, put and head, whatever the protocol. Everything is bounded in time. */
export class Remote {
  readonly #protocol: Protocol;
  readonly #client: HttpClient;

  constructor(protocol: Protocol, { connectMs, silentMs }: Pick<RemoteSettings, 'connectMs' | 'silentMs'>) {
    this.#protocol = protocol;
    this.#client = new HttpClient(protocol, { connectMs, silentMs });
  }

  get(item: Item, { bytes, take }: Download, signal?: AbortSignal): Promise<Answer> {
    return this.#ask({ method: 'GET', item, take, bytes, signal });
  }

  head(item: Item, signal?: AbortSignal): Promise<Answer> {
    return this.#ask({ method: 'HEAD', item, bytes: 0, signal });
  }

  put(item: Item, upload: Upload, signal?: AbortSignal): Promise<Answer> {
    return this.#ask({ method: 'PUT', item, bytes: 0, signal, upload });
  }

  close(): void {
    this.#client.close();
  }

  async #ask({ method, item, upload, take, bytes, signal }: Ask): Promise<Answer> {
    const { path, headers } = this.#protocol.request({ method, item, digest: upload?.digest });
    const body = upload && bodyOf(upload);
    const exchanged = await this.#client.exchange({
      method,
      path,
      headers: body ? { ...headers, 'content-type': 'application/octet-stream' } : headers,
      body,
      take,
      // The text of an error may be longer than what was asked for.
      maxBytes: bytes + 64 * 1024,
      totalMs: TOTAL_MS + Math.ceil((body?.bytes ?? bytes) / SLOWEST_PER_MS),
      signal,
    });
    if ('failed' in exchanged) return exchanged;
    const { status } = exchanged;
    if (status === 200 || (method === 'PUT' && status > 200 && status < 300)) return { found: true };
    if (status === 404 && method !== 'PUT') return { absent: true };
    if (status === 401 || status === 403) return { refused: `it answers ${status}` };
    if (status >= 300 && status < 400) return { failed: `it sends us elsewhere (${status})`, isServers: true };
    return { failed: `it answers ${status}`, isServers: true };
  }
}

interface Ask {
  readonly method: Method;
  readonly item: Item;
  readonly upload?: Upload;
  readonly take?: (chunk: Buffer) => void;
  readonly bytes: number;
  readonly signal?: AbortSignal;
}

function bodyOf(upload: Upload): RequestBody {
  if ('data' in upload) return { bytes: upload.data.length, send: (request) => void request.end(upload.data) };
  const { file, bytes } = upload;
  return {
    bytes,
    send: (request) => {
      if (bytes === 0) return void request.end();
      const stream = createReadStream(file, { end: bytes - 1 });
      stream.on('error', (error) => request.destroy(error));
      request.once('close', () => stream.destroy());
      stream.pipe(request);
    },
  };
}
