import type { Project } from '../../util/project.js';
import { endOfRun, runHead } from './run-head.js';
import { dayOf, lastRunId, prunePointers, removeRun, runBytes, runIds } from './runs-folder.js';
import { wentOn } from './succession.js';

const KEPT_RUNS = 200;
/** Of the day that a run's id begins with. */
const DAY_LENGTH = 8;
const KEPT_MS = 30 * 24 * 3_600_000;
/** Each run may have two. */
const MOST_POINTERS = 2 * KEPT_RUNS;
/** Journals and large outputs of all runs together. */
export const KEPT_BYTES = 256 * 1024 ** 2;
/** Runs that are no larger than this cannot pass the bound together. */
const FAIR_SHARE = KEPT_BYTES / KEPT_RUNS;

/**
 * Finished runs beyond the newest 200 go, and those older than 30 days; unfinished and waiting ones stay. When a run
 * has written much, the oldest finished ones go until all of them fit, but not the last one of a flow or of a batch.
 */
export function pruneRuns(project: Project, written: number, most = KEPT_BYTES): void {
  const ids = runIds(project);
  const oldest = dayOf(project.clock.now() - KEPT_MS);
  const isLarge = written > Math.min(FAIR_SHARE, most);
  // Looking at names costs nothing; most runs end here.
  if (!isLarge && ids.length <= KEPT_RUNS && (ids.at(-1) ?? '9') >= oldest) return;
  // All are looked at before the first one goes: a run is finished if another one went on with it.
  const byAge = isAgeBelievable(ids, oldest);
  const tooMany = ids.filter(
    (runId, index) => (index >= KEPT_RUNS || (byAge && runId < oldest)) && isFinished(project, runId),
  );
  const tooLarge = isLarge ? beyondBytes(project, without(ids, tooMany), most) : [];
  const finished = [...tooMany, ...tooLarge];
  for (const runId of finished) removeRun(project, runId);
  if (finished.length > 0) prunePointers(project, MOST_POINTERS);
}

/**
 * Age removes runs only where those of the last month are of more than one day: after a leap of the clock all of them
 * are from today. One run with a wrong clock must not remove the history; the runs of a later day do.
 */
function isAgeBelievable(ids: readonly string[], oldest: string): boolean {
  const recent = ids.filter((runId) => runId >= oldest);
  return recent.length > 0 && recent[0]!.slice(0, DAY_LENGTH) !== recent.at(-1)!.slice(0, DAY_LENGTH);
}

function without(ids: readonly string[], going: readonly string[]): readonly string[] {
  const gone = new Set(going);
  return ids.filter((runId) => !gone.has(runId));
}

/** Of these runs, the oldest that have to go for the others to fit. */
function beyondBytes(project: Project, ids: readonly string[], most: number): string[] {
  const sizes = ids.map((runId) => ({ runId, bytes: runBytes(project, runId) }));
  let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const beyond: string[] = [];
  for (const { runId, bytes } of sizes.reverse()) {
    if (total <= most) break;
    if (!isFinished(project, runId) || isLastOne(project, runId)) continue;
    beyond.push(runId);
    total -= bytes;
  }
  return beyond;
}

function isFinished(project: Project, runId: string): boolean {
  // Its end says it; how it began, in a line that may be long, matters only if it did not end well.
  if (endOfRun(project, runId)?.status === 'success') return true;
  const state = runHead(project, runId)?.state;
  return state !== undefined && state !== 'running' && wentOn(project, runId);
}

/** The next run of its flow, or of the batch, is explained by what differs from this one. */
function isLastOne(project: Project, runId: string): boolean {
  const run = runHead(project, runId)?.run;
  if (!run) return false;
  return lastRunId(project, run.file ?? run.ref, run.mode === 'batch' ? run.argsDigest : undefined) === runId;
}
