import { utimesSync } from 'node:fs';
import type { Clock } from '../util/clock.js';
import { onAbort } from '../util/on-abort.js';
import { completeClaim, dropClaim, type OwnClaim } from './claim-file.js';
import { encodeRest } from './entry-format.js';
import type { FolderAccess } from './folder-access.js';
import { claimPath, entryPath } from './paths.js';
import type { Claim, ClaimRequest, Entry, PutResult, Store } from './store.js';
import { type AcquiredClaim, claimOrWait } from './wait-for-claim.js';

type ClaimResult = Awaited<ReturnType<Store['claim']>>;

interface ClaimsOptions {
  readonly access: FolderAccess;
  readonly clock: Clock;
  readonly signingKey: Buffer | string | undefined;
  /** Whether an entry has been stored since the caller looked and missed. */
  readonly storedSince: (key: string) => boolean;
  readonly onStored: (entry: Entry, file: { readonly ino: number; readonly size: number }) => void;
}

/** How often a holder touches its claim, so that other machines see that it is alive. */
const SIGN_OF_LIFE_MS = 15_000;

/** Single flight: at most one caller of this process deals with a key's file; the others wait for that one. */
export class Claims {
  readonly #options: ClaimsOptions;
  readonly #flights = new Map<string, Flight>();
  readonly #held = new Set<OwnClaim>();
  #pulse: NodeJS.Timeout | undefined;

  constructor(options: ClaimsOptions) {
    this.#options = options;
  }

  async claim(key: string, request: ClaimRequest): Promise<ClaimResult> {
    let isReported = false;
    for (let flight = this.#flights.get(key); flight; flight = this.#flights.get(key)) {
      if (!isReported) request.onWait?.('this run');
      isReported = true;
      const end = await flight.wait(request.signal);
      if (end === 'stored') return { ready: true };
      if (end === 'aborted') return { unavailable: 'interrupted' };
    }
    const flight = new Flight();
    this.#flights.set(key, flight);
    const acquiring = this.#acquire(key, flight, request);
    const result = acquiring instanceof Promise ? await acquiring : acquiring;
    if (!('claim' in result)) this.#land(key, flight, 'ready' in result ? 'stored' : 'released');
    return result;
  }

  #acquire(key: string, flight: Flight, request: ClaimRequest): ClaimResult | Promise<ClaimResult> {
    const { access, clock } = this.#options;
    const problem = access.problem();
    if (problem !== undefined) return { unavailable: problem };
    const acquiring = claimOrWait(claimPath(access.dir, key), request, clock);
    if (!(acquiring instanceof Promise)) return this.#acquired(key, flight, acquiring);
    return acquiring.then((acquired) => this.#acquired(key, flight, acquired));
  }

  #acquired(key: string, flight: Flight, acquired: AcquiredClaim): ClaimResult {
    const { access } = this.#options;
    if ('aborted' in acquired) return { unavailable: 'interrupted' };
    if ('failed' in acquired) return { unavailable: access.report(acquired.failed) };
    // Since the caller's miss, another process may have claimed the key, stored the result and released it.
    if (this.#options.storedSince(key)) {
      dropClaim(acquired.own);
      return { ready: true };
    }
    this.#hold(acquired.own);
    return { claim: this.#claimOf(key, flight, acquired.own) };
  }

  #claimOf(key: string, flight: Flight, own: OwnClaim): Claim {
    let ended = false;
    const end = (how: 'stored' | 'released') => {
      ended = true;
      this.#letGo(own);
      this.#land(key, flight, how);
    };
    return {
      put: (entry) => {
        if (ended) return { stored: false, reason: 'the claim has ended' };
        const result = this.#put(own, entry.key === key ? entry : { ...entry, key });
        end(result.stored ? 'stored' : 'released');
        return result;
      },
      release: () => {
        if (ended) return;
        dropClaim(own);
        end('released');
      },
    };
  }

  #put(own: OwnClaim, entry: Entry): PutResult {
    const { access, signingKey, onStored } = this.#options;
    const rest = encodeSafely(own.text, entry, signingKey);
    if (rest === undefined) {
      dropClaim(own);
      return { stored: false, reason: 'the result cannot be written as JSON' };
    }
    const completed = completeClaim(own, rest, entryPath(access.dir, entry.key));
    if ('failed' in completed) {
      const { failed } = completed;
      if (failed.code === 'ELOST') return { stored: false, reason: failed.message };
      return { stored: false, reason: access.report(failed), isReported: true };
    }
    onStored(entry, completed);
    return { stored: true };
  }

  #land(key: string, flight: Flight, how: 'stored' | 'released'): void {
    this.#flights.delete(key);
    flight.end(how);
  }

  #hold(own: OwnClaim): void {
    this.#held.add(own);
    this.#pulse ??= setInterval(() => this.#touchAll(), SIGN_OF_LIFE_MS).unref();
  }

  #letGo(own: OwnClaim): void {
    this.#held.delete(own);
    if (this.#held.size > 0) return;
    clearInterval(this.#pulse);
    this.#pulse = undefined;
  }

  #touchAll(): void {
    const now = this.#options.clock.now() / 1_000;
    for (const own of this.#held) {
      try {
        utimesSync(own.path, now, now);
      } catch {
        // Another process removed the claim (`cache clear` on another machine): the put will notice.
      }
    }
  }
}

/** Undefined for values that JSON cannot hold (nested too deeply, too long for one string). */
export function encodeSafely(text: string, entry: Entry, signingKey: Buffer | string | undefined): string | undefined {
  try {
    return encodeRest(text, entry, signingKey);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type FlightEnd = 'stored' | 'released';

/** One computation under way in this process. Nobody waits for most of them. */
class Flight {
  #waiting: ((how: FlightEnd) => void)[] | undefined;

  end(how: FlightEnd): void {
    for (const resolve of this.#waiting ?? []) resolve(how);
    this.#waiting = undefined;
  }

  /** Only while it has not ended. */
  wait(signal: AbortSignal | undefined): Promise<FlightEnd | 'aborted'> {
    if (signal?.aborted) return Promise.resolve('aborted');
    return new Promise((resolve) => {
      const forget = onAbort(signal, () => resolve('aborted'));
      this.#waiting ??= [];
      this.#waiting.push((how) => {
        forget();
        resolve(how);
      });
    });
  }
}
