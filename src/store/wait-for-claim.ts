import type { ErrnoError } from '../util/atomic-write.js';
import type { Clock } from '../util/clock.js';
import { pause } from '../util/pause.js';
import { claimState, createClaim, type OwnClaim, readClaim, removeDeadClaim, type SeenClaim } from './claim-file.js';
import { describeHolder } from './holder.js';
import type { ClaimRequest } from './store.js';

/** A holder elsewhere that has not touched its claim for this long, while we watched, is gone. */
const SILENT_MS = 60_000;
const FIRST_POLL_MS = 3;
const LAST_POLL_MS = 150;

export type Acquired = { readonly own: OwnClaim } | { readonly aborted: true } | { readonly failed: ErrnoError };

/** Creates the claim's file, or waits until whoever has it is done or dead. Looks at one small file per poll. */
export async function waitForClaim(path: string, request: ClaimRequest, clock: Clock): Promise<Acquired> {
  let wait = FIRST_POLL_MS;
  let told = false;
  const watch = new SilenceWatch(clock);
  for (;;) {
    if (request.signal?.aborted) return { aborted: true };
    const created = createClaim(path);
    if (!('exists' in created)) return created;
    const seen = readClaim(path);
    if ('gone' in seen) continue;
    if ('failed' in seen) return seen;
    const state = claimState(seen, clock.now());
    if (state === 'dead' || (state === 'unknown' && watch.isSilent(seen))) {
      removeDeadClaim(path, seen, clock.now());
      // Unless the guard is someone else's, the next round gets the claim; if it is, do not spin.
      await pause(1, request.signal);
      continue;
    }
    if (!told) {
      told = true;
      request.onWait?.(seen.holder ? describeHolder(seen.holder) : 'another process');
    }
    await pause(wait, request.signal);
    wait = Math.min(wait * 1.5, LAST_POLL_MS);
  }
}

/** Clocks of two machines need not agree, so a claim is watched on our own: it is silent if its time stands still. */
class SilenceWatch {
  readonly #clock: Clock;
  #mtimeMs = -1;
  #inode = -1;
  #since = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isSilent({ mtimeMs, inode }: SeenClaim): boolean {
    if (mtimeMs !== this.#mtimeMs || inode !== this.#inode) {
      this.#mtimeMs = mtimeMs;
      this.#inode = inode;
      this.#since = this.#clock.elapsed();
    }
    return this.#clock.elapsed() - this.#since > SILENT_MS;
  }
}
