import type { DiskStore } from '../store/disk-store.js';
import type { Claim, Entry, PutResult } from '../store/store.js';
import type { Lease } from './leases.js';
import type { OpenShared, SharedSession } from './open-shared.js';

/**
 * The local store with a shared one behind it. `put` uploads in the background; `fetch` asks the server. The client is
 * loaded by the first of these calls.
 */
export function shareStore(disk: DiskStore, options: Omit<OpenShared, 'disk'>): DiskStore {
  let opened: Promise<SharedSession> | undefined;
  const open = () => {
    opened ??= import('./open-shared.js').then(({ openShared }) => openShared({ ...options, disk }));
    return opened;
  };
  const offered = (entry: Entry, result: PutResult): PutResult => {
    if (result.stored) void open().then((session) => session.offer(entry));
    return result;
  };
  return {
    ...disk,
    get isNew() {
      return disk.isNew;
    },
    put: (entry) => offered(entry, disk.put(entry)),
    claim: async (key, request) => {
      const result = await disk.claim(key, request);
      if (!('claim' in result)) return result;
      const { claim } = result;
      const shared = await (await opened)?.lease(key, request);
      if (shared && 'lookAgain' in shared) {
        claim.release();
        return { ready: true, elsewhere: true };
      }
      if (!shared || !('lease' in shared)) return { claim: withLease(claim, offered) };
      // After what was offered before, which waits for the same promise.
      const release = () => void open().then(() => shared.lease.release());
      return { claim: withLease(claim, offered, { release }) };
    },
    fetch: async (key, request) => (await open()).fetch(key, request),
    settle: async () => (await opened)?.end(),
  };
}

/** The lease ends with the claim, once the result is uploaded. */
function withLease(claim: Claim, offered: (entry: Entry, result: PutResult) => PutResult, lease?: Lease): Claim {
  return {
    put: (entry) => {
      const result = offered(entry, claim.put(entry));
      lease?.release();
      return result;
    },
    release: () => {
      claim.release();
      lease?.release();
    },
  };
}
