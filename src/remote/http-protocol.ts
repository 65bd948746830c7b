import type { Protocol } from './protocol.js';

/** Bazel's HTTP cache: `/ac/KEY` and `/cas/DIGEST` below an address. Any server that stores what is PUT will do. */
export function httpProtocol(address: string, token: string | undefined): Protocol {
  const origin = new URL(address);
  const base = origin.pathname.replace(/\/+$/, '');
  // bazel-remote takes user names and passwords only.
  const authorization = token?.startsWith('Basic ') ? token : `Bearer ${token}`;
  const headers: Record<string, string> = token === undefined ? {} : { authorization };
  return {
    name: 'http',
    origin,
    request: ({ item: { kind, name } }) => ({ path: `${base}/${kind}/${name}`, headers }),
  };
}
