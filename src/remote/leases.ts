import type { ClaimRequest } from '../store/store.js';

/** The right to compute a key that no other machine has at the same time, as far as somebody can say. */
export interface Lease {
  /** The result is where others find it, or there will be none. */
  release(): void;
}

/**
 * `lookAgain`: another machine has ended its work since the caller looked. `unavailable`: nobody can say who else
 * computes it; the caller computes, and two machines may both pay.
 */
export type Acquired = { readonly lease: Lease } | { readonly lookAgain: true } | { readonly unavailable: true };

/** One flight for each key among all machines. It never waits without a bound, and never stops anybody for good. */
export interface Leases {
  acquire(key: string, request: ClaimRequest): Promise<Acquired>;
  /** Gives up what is held still. */
  end(): Promise<void>;
}
