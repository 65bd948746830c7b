import { sha256Hex } from '../util/digest.js';
import type { Protocol } from './protocol.js';

/** Turborepo's artifacts. It has one kind of name, so entries and blobs get names that differ. */
export function turboProtocol(address: string, token: string | undefined): Protocol {
  const origin = new URL(address);
  const base = origin.pathname.replace(/\/+$/, '');
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return {
    name: 'turbo',
    origin,
    request: ({ item: { kind, name } }) => ({
      path: `${base}/v8/artifacts/${sha256Hex(`taskflow ${kind} ${name}`)}${origin.search}`,
      headers,
    }),
  };
}
