import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { UiHost } from '../../../src/ui/server/host.js';
import { servePage, type UiServer } from '../../../src/ui/server/serve.js';
import type { Project } from '../../../src/util/project.js';

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  json<T = Record<string, unknown>>(): T;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

/** A browser of our own: it sends what a page of ours would, and anything else. */
export interface TestBrowser {
  readonly port: number;
  /** With headers as they are given; `undefined` leaves out one that a browser would send. */
  ask(path: string, asking?: Asking): Promise<Answered>;
  /** With the cookie. */
  look(path: string): Promise<Answered>;
  /** As our own page posts, with the cookie. */
  post(path: string, body: unknown, headers?: Asking['headers']): Promise<Answered>;
  /** Exchanges the token of an address; later questions carry the cookie. */
  enter(url: string): Promise<Answered>;
  cookie(): string | undefined;
}

export function browserAt(port: number): TestBrowser {
  let cookie: string | undefined;
  const ask: TestBrowser['ask'] = (path, asking) => send(port, path, asking);
  const post: TestBrowser['post'] = (path, body, headers = {}) =>
    ask(path, { method: 'POST', headers: { ...ownHeaders(port), cookie, ...headers }, body: JSON.stringify(body) });
  const enter: TestBrowser['enter'] = async (url) => {
    const answered = await post('/api/session', { token: url.split('#')[1] });
    cookie = answered.headers['set-cookie']?.[0]?.split(';')[0] ?? cookie;
    return answered;
  };
  return { port, ask, post, look: (path) => ask(path, { headers: { cookie } }), enter, cookie: () => cookie };
}

/** A page's server in this process, and a browser before it. */
export interface TestUi extends Omit<TestBrowser, 'enter'> {
  readonly server: UiServer;
  /** Every address that was announced. */
  readonly urls: string[];
  readonly reports: string[];
  /** Command lines that the server has called. */
  readonly calls: string[][];
  /** By the last address. */
  enter(): Promise<Answered>;
  socket(): Promise<Socket>;
}

export async function startUi(
  project: Project,
  more: Partial<UiHost> = {},
  limits?: Parameters<typeof servePage>[2],
): Promise<TestUi> {
  const urls: string[] = [];
  const reports: string[] = [];
  const calls: string[][] = [];
  const host: UiHost = {
    project,
    page: { html: '<!doctype html><title>page</title>', policy: "default-src 'none'" },
    readOnly: false,
    who: 'somebody via ui',
    call: async (args) => {
      calls.push([...args]);
      return { status: 0, stdout: '', stderr: '' };
    },
    store: async () => ({ problem: 'no store in this test' }),
    announce: (url) => void urls.push(url),
    report: (message) => void reports.push(message),
    ...more,
  };
  const server = await servePage(host, 0, limits);
  if ('inUse' in server) throw new Error('no port is free');
  const { port } = server;
  const browser = browserAt(port);
  const socket = () =>
    new Promise<Socket>((resolve, reject) => {
      const opened = connect(port, '127.0.0.1', () => resolve(opened)).on('error', reject);
    });
  return { ...browser, server, urls, reports, calls, socket, enter: () => browser.enter(urls.at(-1)!) };
}

/** What our own page sends with everything that decides. */
export function ownHeaders(port: number): Record<string, string> {
  return { origin: `http://127.0.0.1:${port}`, 'content-type': 'application/json', 'x-taskflow': '1' };
}

function send(port: number, path: string, { method = 'GET', headers = {}, body }: Asking = {}): Promise<Answered> {
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: given as Record<string, string> });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const { statusCode = 0, headers: got } = response;
        resolve({ status: statusCode, headers: got, text, json: () => JSON.parse(text) });
      });
    });
    request.end(body);
  });
}
