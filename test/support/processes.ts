import { forgetProcessTable, readProcessTable, startedWith } from '../../src/process/process-table.js';
import { sendSignal } from '../../src/process/send-signal.js';

/** Live processes that were started with `NAME=value` in their environment: however far they fled. */
export function liveWith(variable: string): number[] {
  forgetProcessTable();
  return readProcessTable()
    .filter((row) => !row.zombie && startedWith(row, variable))
    .map((row) => row.pid);
}

/** Some may be gone by now. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) sendSignal(pid, 'SIGKILL');
}

let count = 0;

/** A variable that only the processes of one test have. */
export function brand(): { readonly env: Record<string, string>; readonly live: () => number[] } {
  count += 1;
  const value = `${process.pid}-${count}-${Math.random().toString(36).slice(2)}`;
  return {
    env: { PATH: process.env['PATH'] ?? '', TEST_BRAND: value },
    live: () => liveWith(`TEST_BRAND=${value}`),
  };
}

/** Resolves when the condition holds; throws after the limit. */
export async function until(condition: () => boolean, limitMs = 5_000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!condition()) {
    if (Date.now() > end) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
