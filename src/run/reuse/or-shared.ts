import { encodeIdentity } from '../../memo/identity.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Found, type LookUp, shortest } from './settle.js';

export interface LocalLookUp {
  readonly local: LookUp;
  /** Looks in the local store once more. */
  readonly again: (at: PhaseContext, found: Found) => Promise<LookUp>;
}

/** What the local store has not is asked of the shared one, which puts what it has into the local one. */
export async function orShared(at: PhaseContext, found: Found, { local, again }: LocalLookUp): Promise<LookUp> {
  const { store } = at.run.reuse;
  if ('settled' in local || !store?.fetch || staysHere(at, found)) return local;
  const now = at.run.options.project.clock.now();
  const fetched = await store.fetch(found.key, { ttlMs: shortest(at.policy.ttlMs, found.ttlMs), now });
  if ('miss' in fetched) return { miss: local.miss ?? fetched.miss };
  const hit = await again(at, found);
  if ('miss' in hit) return hit;
  return { settled: { ...hit.settled, shared: true, reason: `shared, ${hit.settled.reason}` } };
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
  'results that depend on env: or a secret argument stay on this machine; a cache.signingKey of the team shares them';
