import type { IncomingMessage } from 'node:http';
import { type Refused, refused } from './answer.js';

/** A header that no form can send, and that another site's page can send only with our permission: we give none. */
const OWN_HEADER = 'x-taskflow';

/**
 * Why a request does not come from our own page; undefined if it may. Another name in `Host` was made to point to this
 * machine (DNS rebinding); another `Origin` is another site's page in the same browser.
 */
export function foreign(request: IncomingMessage, port: number): Refused | undefined {
  const { host, origin } = request.headers;
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) {
    return refused(421, `this server is http://127.0.0.1:${port}`);
  }
  if (request.method !== 'GET' && request.method !== 'POST') return refused(405, 'only GET and POST');
  if (origin !== undefined && origin !== `http://${host}`) return refused(403, 'another origin');
  if (!isOwnFetch(request)) return refused(403, 'another site');
  return request.method === 'POST' ? foreignPost(request) : undefined;
}

/** Browsers send the origin of a request. A link or a typed address may open the page itself, which holds no data. */
function isOwnFetch({ headers, url }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return true;
  return url === '/' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function foreignPost({ headers }: IncomingMessage): Refused | undefined {
  if (headers.origin === undefined) return refused(403, 'a request that decides names its origin');
  if (headers[OWN_HEADER] !== '1') return refused(403, `${OWN_HEADER} is missing`);
  const isJson = /^application\/json(;|$)/.test(headers['content-type'] ?? '');
  return isJson ? undefined : refused(415, 'only application/json');
}
