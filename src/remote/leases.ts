import type { ClaimRequest } from '../store/store.js';

/** The right to compute a key, which no other machine has at the same time, as far as the server can tell. */
export interface Lease {
  /** Call it when the result is on the server, or when there will be none. */
  release(): void;
}

/**
 * `lookAgain`: another machine has ended its work since the caller looked. `unavailable`: the server cannot say who
 * else computes the key; the caller computes it, and two machines may both pay.
 */
export type AcquiredLease = { readonly lease: Lease } | { readonly lookAgain: true } | { readonly unavailable: true };

/** One computation per key among all machines. Waiting is bounded, and a lost lease is taken over. */
export interface Leases {
  acquire(key: string, request: ClaimRequest): Promise<AcquiredLease>;
  /** Releases the leases that are still held. */
  end(): Promise<void>;
}
