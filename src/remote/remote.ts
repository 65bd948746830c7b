import { createReadStream } from 'node:fs';
import type { ClientLimits } from './deadlines.js';
import { type Exchanged, HttpClient, type RequestBody } from './http-client.js';
import type { Item, Method, Protocol } from './protocol.js';

/** `bytes`: what the body may have. */
interface Download {
  readonly bytes: number;
  readonly take: (chunk: Buffer) => void;
}

export type Upload = { readonly digest: string } & (
  | { readonly data: Buffer }
  | { readonly file: string; readonly bytes: number }
);

/** `refused`: no permission. `failed`: an error, or no answer; `isServers`: the server answered with the error. */
export type ServerAnswer =
  | { readonly found: true }
  | { readonly absent: true }
  | { readonly refused: string }
  | { readonly failed: string; readonly isServers?: true };

/** A small object that several machines write. */
export interface Version {
  readonly body: Buffer;
  readonly etag?: string;
  /** By the server's own clock, where it says both the time and when the object was put. */
  readonly ageMs?: number;
}

/** Only where there is nothing yet, or only over the version with this tag. */
export type Condition = { readonly absent: true } | { readonly etag: string | undefined };

/** `taken`: the condition does not hold. */
export type Written = { readonly written: true; readonly etag?: string } | { readonly taken: true } | Unwritten;
type Unwritten = Exclude<ServerAnswer, { readonly found: true } | { readonly absent: true }>;

const LARGEST_VERSION = 64 * 1024;

/** Entries and blobs on a server: get, put and head, whatever the protocol. Everything is bounded in time. */
export class Remote {
  readonly #protocol: Protocol;
  readonly #client: HttpClient;

  constructor(protocol: Protocol, limits: ClientLimits & { readonly proxy: URL | undefined }) {
    this.#protocol = protocol;
    this.#client = new HttpClient(protocol, limits);
  }

  get(item: Item, { bytes, take }: Download, signal?: AbortSignal): Promise<ServerAnswer> {
    return this.#ask({ method: 'GET', item, take, bytes, signal });
  }

  head(item: Item, signal?: AbortSignal): Promise<ServerAnswer> {
    return this.#ask({ method: 'HEAD', item, bytes: 0, signal });
  }

  put(item: Item, upload: Upload, signal?: AbortSignal): Promise<ServerAnswer> {
    return this.#ask({ method: 'PUT', item, bytes: 0, signal, upload });
  }

  async getVersion(item: Item, signal?: AbortSignal): Promise<Version | Exclude<ServerAnswer, { found: true }>> {
    const chunks: Buffer[] = [];
    const take = (chunk: Buffer) => void chunks.push(chunk);
    const headers = { 'cache-control': 'no-cache' };
    const exchanged = await this.#exchange({ method: 'GET', item, take, bytes: LARGEST_VERSION, signal, headers });
    const answer = answerOf('GET', exchanged);
    if (!('found' in answer) || 'failed' in exchanged) return answer as Exclude<ServerAnswer, { found: true }>;
    const { etag, date = '', 'last-modified': modified = '' } = exchanged.headers;
    const ageMs = Date.parse(date) - Date.parse(modified);
    return { body: Buffer.concat(chunks), ...(etag && { etag }), ...(ageMs >= 0 && { ageMs }) };
  }

  async putIf(item: Item, { upload, condition, signal }: ConditionalPut): Promise<Written> {
    const headers = conditionHeaders(condition);
    const exchanged = await this.#exchange({ method: 'PUT', item, upload, bytes: 0, signal, headers });
    // 409: two such requests met (S3).
    if ('status' in exchanged && [409, 412].includes(exchanged.status)) return { taken: true };
    const answer = answerOf('PUT', exchanged);
    if (!('found' in answer)) return answer as Unwritten;
    const { etag } = 'headers' in exchanged ? exchanged.headers : {};
    return { written: true, ...(etag && { etag }) };
  }

  close(): void {
    this.#client.close();
  }

  async #ask(ask: Ask): Promise<ServerAnswer> {
    return answerOf(ask.method, await this.#exchange(ask));
  }

  #exchange({ method, item, upload, take, bytes, signal, headers: more }: Ask): Promise<Exchanged> {
    const { path, headers } = this.#protocol.request({ method, item, digest: upload?.digest });
    const body = upload && bodyOf(upload);
    return this.#client.exchange({
      method,
      path,
      headers: { ...headers, ...more, ...(body && { 'content-type': 'application/octet-stream' }) },
      body,
      take,
      // The text of an error may be longer than the content.
      maxBytes: bytes + 64 * 1024,
      signal,
    });
  }
}

function answerOf(method: Method, exchanged: Exchanged): ServerAnswer {
  if ('failed' in exchanged) return exchanged;
  const { status } = exchanged;
  if (status === 200 || (method === 'PUT' && status > 200 && status < 300)) return { found: true };
  if (status === 404 && method !== 'PUT') return { absent: true };
  if (status === 401 || status === 403) return { refused: `it answers ${status}` };
  if (status >= 300 && status < 400) return { failed: `it sends us elsewhere (${status})`, isServers: true };
  return { failed: `it answers ${status}`, isServers: true };
}

/** A version without a tag is overwritten whatever it is. */
function conditionHeaders(condition: Condition): Record<string, string> {
  if ('absent' in condition) return { 'if-none-match': '*' };
  return condition.etag === undefined ? {} : { 'if-match': condition.etag };
}

interface ConditionalPut {
  readonly upload: Upload;
  readonly condition: Condition;
  readonly signal?: AbortSignal;
}

interface Ask {
  readonly method: Method;
  readonly item: Item;
  readonly upload?: Upload;
  readonly take?: (chunk: Buffer) => void;
  readonly bytes: number;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
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
