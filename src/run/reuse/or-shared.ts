import { encodeIdentity } from '../../memo/identity.js';
import type { PhaseContext } from '../context/phase-context.js';
import { getOptions, type LookUp, lookUp } from './from-store.js';
import type { Found } from './settle.js';

/**
 * What the local store has not is asked of the shared one, which puts what it has into the local one: the entry of the
 * declared key, and the results that path sets lead to.
 */
export async function orShared(at: PhaseContext, found: Found, local: LookUp): Promise<LookUp> {
  const { store } = at.run.reuse;
  if ('settled' in local || !store?.fetch || staysHere(at, found)) return local;
  const fetch = (key: string) => store.fetch!(key, getOptions(at, found));
  const fetched = await fetch(found.key);
  const hit = await lookUp(at, found, fetch);
  if ('miss' in hit) return { miss: local.miss ?? hit.miss ?? ('miss' in fetched ? fetched.miss : undefined) };
  const { origin } = hit.settled;
  return { settled: { ...hit.settled, origin: { ...origin, shared: true, reason: `shared, ${origin.reason}` } } };
}

/** A key that was made with this store's own secret is nobody else's. */
function staysHere({ run, scope }: PhaseContext, { identity }: Found): boolean {
  if (run.reuse.sealsAreShared) return false;
  const sealed = run.reuse.sealedIdentity(identity, scope);
  if (sealed === identity || encodeIdentity(sealed) === encodeIdentity(identity)) return false;
  run.io.warn(STAYS_HERE);
  return true;
}

const STAYS_HERE =
  'results that depend on env: or on a secret argument stay on this machine; a cache.signingKey shares them';
