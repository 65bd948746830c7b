import { systemClock } from './clock.js';
import { nextTurn } from './timer.js';

/** Signals and timers wait at most this long, however much work there is. */
const LONGEST_TURN_MS = 50;

let startedAt: number | undefined;

/**
 * Whether this turn of the event loop has lasted long enough, counted from the first call in it. Everything in the turn
 * shares one measure: ten long lists side by side must not take ten times as long.
 */
export function isLongTurn(): boolean {
  const now = systemClock.elapsed();
  if (startedAt === undefined) {
    startedAt = now;
    setImmediate(() => {
      startedAt = undefined;
    });
  }
  return now - startedAt > LONGEST_TURN_MS;
}

/** `list.map` that lets others have their turn. Stops early, with what it has, when `signal` aborts. */
export async function mapInTurns<T, R>(
  list: readonly T[],
  change: (value: T, index: number) => R,
  signal?: AbortSignal,
): Promise<R[]> {
  const changed: R[] = [];
  for (let index = 0; index < list.length; index++) {
    if (isLongTurn()) await nextTurn();
    if (signal?.aborted) break;
    changed.push(change(list[index]!, index));
  }
  return changed;
}
