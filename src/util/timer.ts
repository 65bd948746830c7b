/** Node fires a timer that is longer than this at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timer; none at all when it would be longer than anyone waits (24 days). */
export function startTimer(ms: number, fire: () => void): NodeJS.Timeout | undefined {
  return ms > MAX_TIMER_MS ? undefined : setTimeout(fire, ms);
}

/** Those of `node:timers/promises` take a millisecond to load. Does not keep the process alive if `ref` is false. */
export function delay(ms: number, { ref = true }: { readonly ref?: boolean } = {}): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (!ref) timer.unref();
  });
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
