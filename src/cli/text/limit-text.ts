import type { RunEvent } from '../../model/event.js';
import { formatDuration } from '../../util/duration.js';
import { oneLine } from '../../util/terminal-text.js';

type Limit = Pick<Extract<RunEvent, { readonly type: 'limit' }>, 'runner' | 'until' | 'known'>;

type Met = Limit & Pick<Extract<RunEvent, { readonly type: 'limit' }>, 'at' | 'waits' | 'error'>;

/** `waiting until 14:05 for claude's limit`. */
export function waitingText({ runner, until, known }: Limit, now: number): string {
  const whose = `${oneLine(runner)}'s limit`;
  return known
    ? `waiting until ${clockTime(until, now)} for ${whose}`
    : `waiting for ${whose}, asking again at ${clockTime(until, now)}`;
}

/** `claude's usage limit is reached (…): waiting until 14:05, 3h 5m from now`. */
export function limitText({ at, runner, until, known, waits, error }: Met): string {
  const met = `${oneLine(runner)}'s usage limit is reached (${oneLine(error)})`;
  const when = known ? 'waiting until' : 'asking again at';
  if (waits) return `${met}: ${when} ${clockTime(until, at)}, ${formatDuration(until - at)} from now`;
  return known ? `${met}; it resets at ${clockTime(until, at)}` : met;
}

/** What a paused run waits for. */
export function resetText(resetsAt: number | undefined, now: number): string {
  if (resetsAt === undefined) return 'usage limit reached';
  return resetsAt > now ? `usage limit resets at ${clockTime(resetsAt, now)}` : 'usage limit has reset';
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** On the clock of this machine: `14:05`, and the date unless it is today. By hand: the first `Intl` is slow. */
function clockTime(ms: number, now: number): string {
  const [then, today] = [new Date(ms), new Date(now)];
  const two = (count: number) => `${count}`.padStart(2, '0');
  const time = `${two(then.getHours())}:${two(then.getMinutes())}`;
  if (then.toDateString() === today.toDateString()) return time;
  const year = then.getFullYear() === today.getFullYear() ? '' : ` ${then.getFullYear()}`;
  return `${MONTHS[then.getMonth()]} ${then.getDate()}${year} ${time}`;
}
