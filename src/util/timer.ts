/** Node fires a timer that is longer than this at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timer; none for more than 24 days, which Node cannot time. */
export function startTimer(ms: number, fire: () => void): NodeJS.Timeout | undefined {
  return ms > MAX_TIMER_MS ? undefined : setTimeout(fire, ms);
}

/** Not `node:timers/promises`, which takes a millisecond to load. Does not keep the process alive if `ref` is false. */
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
