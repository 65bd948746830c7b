import type { IncomingMessage, ServerResponse } from 'node:http';
import { ACTION_NAMES, act } from './actions.js';
import { type PageAnswer, refused, writeHead } from './answer.js';
import { cacheView } from './cache-view.js';
import { sendChanges } from './changes.js';
import { EventStream } from './event-stream.js';
import { readBody } from './read-body.js';
import { compareAnswer, detailAnswer, runAnswer } from './run-answers.js';
import type { PageRequest, Site } from './site.js';

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  /** Needs no cookie, because it shows nothing of the project. */
  readonly open?: true;
  readonly answer: (site: Site, asked: PageRequest) => PageAnswer | Promise<PageAnswer>;
}

/** Each tab has one; a browser opens six connections to one server. */
const MOST_STREAMS = 64;
/** Actions under way; each is a process. */
const MOST_ACTING = 8;

const ROUTES: readonly Route[] = [
  { method: 'GET', path: /^\/$/, open: true, answer: page },
  { method: 'POST', path: /^\/api\/session$/, open: true, answer: enter },
  { method: 'GET', path: /^\/api\/session$/, answer: ({ host }) => ({ json: { readOnly: host.readOnly } }) },
  { method: 'GET', path: /^\/api\/runs$/, answer: ({ list }) => ({ json: list.read() }) },
  { method: 'GET', path: ofRun(''), answer: runAnswer },
  { method: 'GET', path: ofRun('/detail'), answer: detailAnswer },
  { method: 'GET', path: ofRun('/compare'), answer: compareAnswer },
  { method: 'GET', path: /^\/api\/events$/, answer: listen },
  { method: 'GET', path: /^\/api\/cache$/, answer: ({ host }) => cacheView(host) },
  { method: 'POST', path: new RegExp(`^/api/(${ACTION_NAMES.join('|')})$`), answer: decide },
];

function ofRun(what: string): RegExp {
  return new RegExp(`^/api/runs/(\\d{8}-\\d{6}-[0-9a-z]{6})${what}$`);
}

/** Answers a request that comes from our own page or from no page at all. */
export async function answer(site: Site, request: IncomingMessage, response: ServerResponse): Promise<PageAnswer> {
  const [pathname = '', query = ''] = (request.url ?? '').split('?');
  const found = ROUTES.find(({ method, path }) => method === request.method && path.test(pathname));
  if (!found) return refused(404, 'there is nothing here');
  if (!found.open && !site.sessions.knows(request.headers.cookie)) {
    return refused(401, 'this browser was not let in', 'Open the address that taskflow ui has printed last.');
  }
  const part = found.path.exec(pathname)?.[1] ?? '';
  return found.answer(site, { request, response, query: new URLSearchParams(query), part });
}

function page({ host }: Site, { response }: PageRequest): PageAnswer {
  const { html, policy } = host.page;
  writeHead(response, { type: 'text/html; charset=utf-8', policy });
  response.end(html);
  return { written: true };
}

async function enter({ sessions, renew, host }: Site, { request }: PageRequest): Promise<PageAnswer> {
  const read = await readBody(request);
  if ('refusal' in read) return read;
  const exchanged = sessions.exchange(read.body.text('token') ?? '', request.headers.cookie);
  const json = { readOnly: host.readOnly };
  if (exchanged === 'again') return { json };
  if (exchanged === 'stolen') host.report('an address was opened by two browsers: both are put out');
  if (typeof exchanged === 'string') {
    return refused(401, 'this address does not open any more', 'taskflow ui has printed another one.');
  }
  renew();
  return { json, cookie: exchanged.cookie };
}

async function listen(site: Site, { request, response, query }: PageRequest): Promise<PageAnswer> {
  if (site.streams.size >= MOST_STREAMS) return refused(503, 'too many pages are open');
  const runId = query.get('run') ?? undefined;
  const since = String(request.headers['last-event-id'] ?? query.get('since') ?? '');
  const stream = new EventStream(response);
  site.streams.add(stream);
  try {
    await sendChanges(stream, { project: site.host.project, list: site.list }, { runId, since });
  } finally {
    site.streams.delete(stream);
    stream.end();
  }
  return { written: true };
}

async function decide(site: Site, { request, part }: PageRequest): Promise<PageAnswer> {
  const read = await readBody(request);
  if ('refusal' in read) return read;
  if (site.acting >= MOST_ACTING) return refused(503, 'too much is being done at once');
  site.acting += 1;
  try {
    return await act(site.host, part, read.body);
  } finally {
    site.acting -= 1;
  }
}
