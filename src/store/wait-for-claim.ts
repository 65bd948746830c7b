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

export type AcquiredClaim = { readonly own: OwnClaim } | { readonly aborted: true } | { readonly failed: ErrnoError };

/** Creates the claim's file, or waits until its holder is done or dead. Without a promise where no process holds it. */
export function claimOrWait(path: string, request: ClaimRequest, clock: Clock): AcquiredClaim | Promise<AcquiredClaim> {
  if (request.signal?.aborted) return { aborted: true };
  const created = createClaim(path);
  return 'exists' in created ? waitForClaim(path, request, clock) : created;
}

/** Looks at one small file per poll. */
async function waitForClaim(path: string, request: ClaimRequest, clock: Clock): Promise<AcquiredClaim> {
  let wait = FIRST_POLL_MS;
  let isReported = false;
  const watch = new SilenceWatch(clock);
  for (;;) {
    if (request.signal?.aborted) return { aborted: true };
    const created = createClaim(path);
    if (!('exists' in created)) return created;
    const found = readClaim(path);
    if ('gone' in found) continue;
    if ('failed' in found) return found;
    const state = claimState(found, clock.now());
    if (state === 'dead' || (state === 'unknown' && watch.isSilent(found))) {
      removeDeadClaim(path, found, clock.now());
      // The next round gets the claim, unless another process has the guard: then do not spin.
      await pause(1, request.signal);
      continue;
    }
    if (!isReported) {
      isReported = true;
      request.onWait?.(found.holder ? describeHolder(found.holder) : 'another process');
    }
    await pause(wait, request.signal);
    wait = Math.min(wait * 1.5, LAST_POLL_MS);
  }
}

/** Clocks of two machines may differ, so ours measures the silence: how long the claim's mtime has not changed. */
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
