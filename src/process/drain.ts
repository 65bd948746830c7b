import type { ChildProcess } from 'node:child_process';
import { systemClock } from '../util/clock.js';

/** Nothing came for that long after the end: whoever still holds the pipe is not going to say anything of ours. */
const QUIET_MS = 200;
/** A process that fled its group and keeps writing does not get to keep the result. */
const LIMIT_MS = 2_000;

/** Resolves when both streams are read to their end, or someone who outlived the process keeps them open for nothing. */
export function drained(child: ChildProcess, closed: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const until = systemClock.elapsed() + LIMIT_MS;
    let chunks = 0;
    const count = () => {
      chunks += 1;
    };
    let timer = setTimeout(check, QUIET_MS, chunks);
    child.stdout?.on('data', count);
    child.stderr?.on('data', count);
    void closed.then(done);

    /** A busy event loop runs timers before it reads: only silence across a whole turn of it counts. */
    function check(before: number): void {
      setImmediate(() =>
        setImmediate(() => {
          if (chunks !== before && systemClock.elapsed() < until) timer = setTimeout(check, QUIET_MS, chunks);
          else done();
        }),
      );
    }

    function done(): void {
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.stdin?.destroy();
      resolve();
    }
  });
}
