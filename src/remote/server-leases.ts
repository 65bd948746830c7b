import { randomUUID } from 'node:crypto';
import type { ClaimRequest } from '../store/store.js';
import { systemClock } from '../util/clock.js';
import { pause } from '../util/pause.js';
import type { Breaker } from './breaker.js';
import { canLease } from './can-lease.js';
import { HeldLease } from './held-lease.js';
import { encodeLease, leaseItem } from './lease-object.js';
import type { AcquiredLease, Leases } from './leases.js';
import type { Condition, Remote } from './remote.js';
import type { Signer, Trust } from './trust.js';
import { WatchedLease } from './watched-lease.js';

interface ServerLeasesOptions {
  readonly remote: Remote;
  readonly breaker: Breaker;
  readonly signer: Signer;
  readonly trust: Trust;
  /** The name of this machine or job, for messages. */
  readonly by: string;
  /** For each key. */
  readonly mostWaitMs: number;
  /** Ends waiting when the run ends; leases are still released. */
  readonly signal?: AbortSignal;
  /** A lease that does not change for this long is lost. Its holder renews it three times as often. */
  readonly silentMs?: number;
}

const SILENT_MS = 30_000;
const FIRST_POLL_MS = 100;
const LAST_POLL_MS = 2_000;
/** Bounded, because a server whose tags never match would never allow a takeover. */
const MOST_TRIES = 3;
const END_WAIT_MS = 1_000;
const UNAVAILABLE: AcquiredLease = { unavailable: true };

/** Leases as objects on the shared cache's server, created only where there is none. Independent of clocks. */
export class ServerLeases implements Leases {
  readonly #options: ServerLeasesOptions & { readonly silentMs: number };
  readonly #watched = new Map<string, WatchedLease>();
  readonly #held = new Set<HeldLease>();
  #can: Promise<boolean> | undefined;

  constructor(options: ServerLeasesOptions) {
    this.#options = { silentMs: SILENT_MS, ...options };
  }

  async acquire(key: string, request: ClaimRequest): Promise<AcquiredLease> {
    this.#can ??= this.#probe();
    if (!(await this.#can)) return UNAVAILABLE;
    let condition: Condition = { absent: true };
    for (let tries = 0; tries < MOST_TRIES && !this.#isStopped(request); tries++) {
      const put = await this.#put(key, condition);
      if (!('taken' in put)) return put;
      const free = await this.#untilFree(key, request);
      if (!('condition' in free)) return free;
      condition = free.condition;
    }
    return UNAVAILABLE;
  }

  async end(): Promise<void> {
    for (const lease of this.#held) lease.release();
    const all = Promise.all([...this.#held].map(({ released }) => released));
    if (this.#held.size > 0) await Promise.race([all, pause(END_WAIT_MS, undefined)]);
  }

  #isStopped({ signal }: ClaimRequest): boolean {
    const { breaker } = this.#options;
    return signal?.aborted === true || breaker.isOff('write') || breaker.isOff('read');
  }

  async #probe(): Promise<boolean> {
    const { remote, breaker } = this.#options;
    const answer = await canLease(remote, breaker.signal('write'));
    if ('can' in answer) return answer.can;
    breaker.count('write', answer);
    return false;
  }

  async #put(key: string, condition: Condition): Promise<AcquiredLease | { readonly taken: true }> {
    const { remote, breaker, signer, by, silentMs, signal } = this.#options;
    const text = { key, id: randomUUID(), by, beat: 0, isReleased: false };
    const upload = encodeLease(text, signer);
    const put = await remote.putIf(leaseItem(key), { upload, condition, signal: breaker.signal('write') });
    if ('taken' in put) return put;
    if (!('written' in put)) {
      breaker.count('write', put);
      return UNAVAILABLE;
    }
    // An interrupted run still releases its leases; one that has lost the server does not try.
    const mayWrite = () => !breaker.isOff('write') || signal?.aborted === true;
    const onReleased = (lease: HeldLease) => void this.#held.delete(lease);
    const held = new HeldLease({ remote, signer, beatMs: silentMs / 3, mayWrite, onReleased }, text, put);
    this.#held.add(held);
    this.#watched.delete(key);
    return { lease: held };
  }

  /** Waits while another machine renews its lease, within the bound. */
  async #untilFree(key: string, request: ClaimRequest): Promise<AcquiredLease | { readonly condition: Condition }> {
    const { remote, breaker, trust, silentMs, mostWaitMs } = this.#options;
    const watch = this.#watched.get(key) ?? new WatchedLease({ key, trust, silentMs });
    this.#watched.set(key, watch);
    let isReported = false;
    for (let wait = FIRST_POLL_MS; !this.#isStopped(request); wait = Math.min(wait * 1.5, LAST_POLL_MS)) {
      const seen = await remote.getVersion(leaseItem(key), breaker.signal('read'));
      if ('absent' in seen) return { condition: { absent: true } };
      if ('body' in seen) {
        const state = watch.look(seen, systemClock.elapsed());
        if (state === 'ended') return { lookAgain: true };
        if (state === 'free') return { condition: { etag: seen.etag } };
      } else breaker.count('read', seen);
      if (watch.waitedMs(systemClock.elapsed()) + wait > mostWaitMs) return UNAVAILABLE;
      if (!isReported) request.onWait?.(watch.by);
      isReported = true;
      await pause(wait, request.signal);
    }
    return UNAVAILABLE;
  }
}
