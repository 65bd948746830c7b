import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from '../../util/project.js';
import type { RunHead } from './run-head.js';
import { runFolder } from './runs-folder.js';

/** The kernel stamps files with the time of its last tick, which lies up to this long before the time a clock shows. */
const TICK_MS = 10;
const NAME = 'ended';

/** Lets the tick pass in which the last process may have written something, so that its files are older than the end. */
export function letTickPass(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, TICK_MS));
}

/** Marks the end of a run that may be gone on with, on the clock by which files are compared with it. */
export function stampEnd(project: Project, runId: string): void {
  try {
    writeFileSync(join(runFolder(project, runId), NAME), '', { mode: 0o600 });
  } catch {
    // Without a stamp, what was written in the last tick counts as written since.
  }
}

/** What has this time or a later one was written after the run had ended, as far as anybody can tell. */
export function endOnFileClock(project: Project, { runId, state, endedAt }: RunHead): number {
  // The journal of a run that was killed is itself stamped by the kernel.
  if (state === 'crashed') return endedAt;
  try {
    return statSync(join(runFolder(project, runId), NAME)).mtimeMs;
  } catch {
    // A run that ended well, or one of another version: only our own clock can tell.
    return endedAt - TICK_MS;
  }
}
