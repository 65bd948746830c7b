import { systemClock } from '../util/clock.js';
import { delay } from '../util/timer.js';
import { isAlive } from './process-identity.js';
import { forgetProcessTable, type ProcessRow, readProcessTable, startedWith } from './process-table.js';
import { sendSignal } from './send-signal.js';

const GRACE_MS = 2_000;
const POLL_MS = 10;

interface Marked {
  /** Start ticks of their parent: older processes cannot be among them. */
  readonly since?: number;
  /** Between TERM and KILL, and after it. */
  readonly graceMs?: number;
}

/**
 * Ends every process that was started with this `NAME=value`: a daemon in a session of its own has no parent that leads
 * to it. Costs one look at the process table when there is none.
 */
export async function endMarked(variable: string, { since = 0, graceMs = GRACE_MS }: Marked = {}): Promise<void> {
  for (const [signal, limitMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', graceMs],
  ] as const) {
    const until = systemClock.elapsed() + limitMs;
    for (;;) {
      const members = living(variable, since);
      if (members.length === 0) return;
      for (const { pid } of members) sendSignal(pid, signal);
      do await delay(POLL_MS);
      while (systemClock.elapsed() < until && members.some(isAlive));
      if (systemClock.elapsed() >= until) break;
    }
  }
}

function living(variable: string, since: number): ProcessRow[] {
  forgetProcessTable();
  return readProcessTable().filter(
    (row) => row.startTicks >= since && !row.zombie && row.pid !== process.pid && startedWith(row, variable),
  );
}
