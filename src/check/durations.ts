import { parseDuration } from '../util/duration.js';
import type { Place } from './problem.js';
import { nameOf } from './structure.js';

/** Milliseconds. The structure is already checked, so a duration that does not parse is too long. */
export function checkDuration(
  value: string | number,
  { path, problems, mayBeZero = false, ...more }: Place & { readonly hint?: string; readonly mayBeZero?: boolean },
): number | undefined {
  const ms = parseDuration(value);
  if (ms === undefined) problems.error(path, 'out-of-range', `${nameOf(path, problems)} is too long`);
  else if (ms === 0 && !mayBeZero) {
    problems.error(path, 'out-of-range', {
      message: `${nameOf(path, problems)} has to be longer than nothing`,
      ...more,
    });
  }
  return ms;
}
