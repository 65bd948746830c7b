/** Node fires a timer that is longer than this at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A timer; none at all when it would be longer than anyone waits (24 days). */
export function startTimer(ms: number, fire: () => void): NodeJS.Timeout | undefined {
  return ms > MAX_TIMER_MS ? undefined : setTimeout(fire, ms);
}
