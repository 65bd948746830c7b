import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A receiver of traces over HTTP that is as strict as the protobuf definition: ids in hex, 64-bit numbers as text,
 * known fields, known enum values. What is wrong is in `problems`.
 */
export interface OtlpReceiver {
  readonly url: string;
  readonly posts: readonly { readonly path: string; readonly headers: IncomingHttpHeaders; readonly spans: number }[];
  readonly spans: readonly ReceivedSpan[];
  readonly resources: readonly Record<string, unknown>[];
  readonly problems: readonly string[];
  /** Span ids and parents of all posts together: every parent is there, but for those that are given. */
  orphans(...known: string[]): string[];
  span(name: string): ReceivedSpan;
  close(): Promise<void>;
}

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly start: bigint;
  readonly end: bigint;
  readonly values: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

type Answer = (response: ServerResponse, call: number) => void;

export async function startOtlpReceiver(answer: Answer = acceptAll): Promise<OtlpReceiver> {
  const posts: OtlpReceiver['posts'][number][] = [];
  const spans: ReceivedSpan[] = [];
  const resources: Record<string, unknown>[] = [];
  const problems: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const check = new Check(problems);
      const read = check.request(request.method, request.headers, Buffer.concat(chunks).toString('utf8'));
      posts.push({ path: request.url ?? '', headers: request.headers, spans: read.spans.length });
      spans.push(...read.spans);
      resources.push(...read.resources);
      answer(response, posts.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posts,
    spans,
    resources,
    problems,
    orphans: (...known) => {
      const ids = new Set([...spans.map(({ spanId }) => spanId), ...known]);
      return spans.filter(({ parentSpanId: id }) => id !== undefined && !ids.has(id)).map(({ name }) => name);
    },
    span: (name) => {
      const found = spans.find((span) => span.name === name);
      if (!found) throw new Error(`no span ${name}; there are: ${spans.map((span) => span.name).join(', ')}`);
      return found;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function acceptAll(response: ServerResponse): void {
  response.setHeader('content-type', 'application/json').end('{"partialSuccess":{}}');
}

type Json = Record<string, unknown>;

const SPAN_FIELDS = new Set(
  ['traceId', 'spanId', 'parentSpanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano'].concat(
    ...['attributes', 'events', 'status', 'traceState', 'flags', 'links', 'droppedAttributesCount'],
  ),
);

class Check {
  constructor(private readonly problems: string[]) {}

  request(method: string | undefined, headers: IncomingHttpHeaders, body: string) {
    this.that(method === 'POST', `method ${method}`);
    this.that(headers['content-type'] === 'application/json', `content-type ${headers['content-type']}`);
    this.that(Number(headers['content-length']) === Buffer.byteLength(body), 'content-length');
    const root = JSON.parse(body) as Json;
    this.fields(root, ['resourceSpans']);
    const spans: ReceivedSpan[] = [];
    const resources: Record<string, unknown>[] = [];
    for (const group of list(root['resourceSpans'])) {
      this.fields(group, ['resource', 'scopeSpans', 'schemaUrl']);
      resources.push(this.attributes((group['resource'] as Json)['attributes']));
      for (const scoped of list(group['scopeSpans'])) {
        this.fields(scoped, ['scope', 'spans', 'schemaUrl']);
        this.fields(scoped['scope'] as Json, ['name', 'version']);
        for (const span of list(scoped['spans'])) spans.push(this.span(span));
      }
    }
    return { spans, resources };
  }

  span(span: Json): ReceivedSpan {
    this.fields(span, [...SPAN_FIELDS]);
    const { traceId, spanId, parentSpanId, name, kind } = span as unknown as ReceivedSpan;
    this.that(isId(traceId, 32), `traceId ${traceId}`);
    this.that(isId(spanId, 16), `spanId ${spanId}`);
    this.that(parentSpanId === undefined || isId(parentSpanId, 16), `parentSpanId ${parentSpanId}`);
    this.that(parentSpanId !== spanId, 'a span is its own parent');
    this.that(typeof name === 'string' && name !== '', 'a span without a name');
    this.that(Number.isInteger(kind) && kind >= 0 && kind <= 5, `kind ${kind}`);
    const [start, end] = [this.time(span['startTimeUnixNano']), this.time(span['endTimeUnixNano'])];
    this.that(start <= end, `${name} ends before it starts`);
    const status = (span['status'] ?? {}) as ReceivedSpan['status'];
    this.fields(status as Json, ['code', 'message']);
    this.that([undefined, 0, 1, 2].includes(status.code), `status ${status.code}`);
    const events = list(span['events'] ?? []).map((event) => {
      this.fields(event, ['timeUnixNano', 'name', 'attributes', 'droppedAttributesCount']);
      this.time(event['timeUnixNano']);
      this.attributes(event['attributes']);
      return event as unknown as { name: string };
    });
    const values = this.attributes(span['attributes']);
    return { traceId, spanId, parentSpanId, name, kind, start, end, values, events, status };
  }

  attributes(value: unknown): Record<string, unknown> {
    const values: Record<string, unknown> = {};
    for (const attribute of list(value)) {
      this.fields(attribute, ['key', 'value']);
      const { key } = attribute as { key: string };
      this.that(typeof key === 'string' && key !== '' && !(key in values), `key ${key}`);
      const [[type, said] = ['', undefined], ...more] = Object.entries(attribute['value'] as Json);
      this.that(more.length === 0, `${key} has several values`);
      values[key] = this.value(key, type, said);
    }
    return values;
  }

  value(key: string, type: string, said: unknown): unknown {
    switch (type) {
      case 'stringValue':
        this.that(typeof said === 'string' && said === Buffer.from(said).toString(), `${key}: ${String(said)}`);
        return said;
      case 'boolValue':
        this.that(typeof said === 'boolean', `${key}: ${String(said)}`);
        return said;
      case 'intValue':
        this.that(typeof said === 'string' && /^-?\d{1,19}$/.test(said), `${key}: ${String(said)}`);
        return Number(said);
      case 'doubleValue':
        this.that(typeof said === 'number' && Number.isFinite(said), `${key}: ${String(said)}`);
        return said;
      default:
        this.problems.push(`${key} has a value of type ${type}`);
        return undefined;
    }
  }

  time(value: unknown): bigint {
    const isTime = typeof value === 'string' && /^\d{1,20}$/.test(value) && value !== '0';
    this.that(isTime, `time ${String(value)}`);
    return isTime ? BigInt(value) : 0n;
  }

  fields(value: Json, known: readonly string[]): void {
    for (const name of Object.keys(value)) this.that(known.includes(name), `field ${name}`);
  }

  that(condition: boolean, problem: string): void {
    if (!condition) this.problems.push(problem);
  }
}

function isId(value: unknown, length: number): boolean {
  return typeof value === 'string' && new RegExp(`^[0-9a-f]{${length}}$`).test(value) && !/^0+$/.test(value);
}

function list(value: unknown): Json[] {
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`);
  return value as Json[];
}
