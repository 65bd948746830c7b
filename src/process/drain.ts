import { systemClock } from '../util/clock.js';
import type { Child } from './child.js';

/** After the exit, a pipe that stays silent for so long holds nothing more from the process. */
const QUIET_MS = 200;
/** After this, one silent turn of the event loop is enough: a process that outlives its parent must not delay us. */
const PATIENCE_MS = 2_000;
/** More than any pipe can hold: some process is still writing. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Resolves when both streams are read to their end, or are only held open, in silence, by a process that outlived ours.
 * What was in the pipe when the process ended is always read, however busy this process is.
 */
export function drained(child: Child, received: () => number): Promise<void> {
  return new Promise((resolve) => {
    const until = systemClock.elapsed() + PATIENCE_MS;
    const start = received();
    let timer = setTimeout(check, QUIET_MS, start);
    child.onClose(done);

    /** A busy event loop runs timers before it reads: only silence across a whole turn of it counts. */
    function check(before: number): void {
      setImmediate(() => setImmediate(() => decide(before)));
    }

    function decide(before: number): void {
      const now = received();
      if (now === before || now - start > MAX_BYTES) done();
      else if (systemClock.elapsed() < until) timer = setTimeout(check, QUIET_MS, now);
      else check(now);
    }

    function done(): void {
      clearTimeout(timer);
      child.closeStreams();
      resolve();
    }
  });
}
