import { decodeLease } from './lease-object.js';
import type { Version } from './remote.js';
import type { Trust } from './trust.js';

/** The lease of another machine as this run sees it. */
export class WatchedLease {
  by = 'another machine';
  /** The last version, unchanged since `#since`. */
  #body: Buffer | undefined;
  #since = 0;
  #beganAt: number | undefined;
  #isLookedAfter = false;

  constructor(private readonly options: { readonly key: string; readonly trust: Trust; readonly silentMs: number }) {}

  waitedMs(now: number): number {
    return now - (this.#beganAt ?? now);
  }

  /**
   * `held`: wait. `ended`: it is over, and its holder may have stored a result since the caller looked; returned once
   * for each version. `free`: it may be taken over.
   */
  look({ body, ageMs = 0 }: Version, now: number): 'held' | 'ended' | 'free' {
    const { key, trust, silentMs } = this.options;
    this.#beganAt ??= now;
    if (!this.#body?.equals(body)) {
      this.#body = body;
      this.#since = now;
      this.#isLookedAfter = false;
    }
    const lease = decodeLease(body, key, trust);
    if (!lease) return 'free';
    this.by = `another machine (${lease.by})`;
    if (!lease.isReleased && ageMs <= silentMs && now - this.#since <= silentMs) return 'held';
    if (this.#isLookedAfter) return 'free';
    this.#isLookedAfter = true;
    return 'ended';
  }
}
