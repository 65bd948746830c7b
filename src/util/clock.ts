/** The only place that reads the time; everything else is given a clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that never goes back, for durations. */
  elapsed(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // `performance` is a module that Node loads when it is first touched; this is there already.
  elapsed: () => {
    const time = process.hrtime();
    return time[0] * 1_000 + time[1] / 1_000_000;
  },
};
