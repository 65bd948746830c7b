import type { Entry } from '../store/store.js';

const SEALED = /sealed:[0-9a-f]{8}:[0-9a-f]{32}/;

/**
 * Whether the key of an entry was made with the secret of its store (`env:`, secret arguments): no other machine can
 * ask for it. Not because of `env`, whose values are sealed only in the stored identity and are in the key as they are.
 */
export function staysHere({ identity: { env: _shown, ...rest } }: Pick<Entry, 'identity'>): boolean {
  return SEALED.test(JSON.stringify(rest));
}
