/** The only place that reads the time; all other code gets a clock. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that never goes back, for durations. */
  elapsed(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // Node would load a module for `performance`; this is always loaded.
  elapsed: () => {
    const time = process.hrtime();
    return time[0] * 1_000 + time[1] / 1_000_000;
  },
};
