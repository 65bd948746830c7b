import type { Project } from '../util/project.js';
import { runHead } from './run-state.js';
import { prunePointers, removeRun, runIds } from './runs-folder.js';
import { wentOn } from './succession.js';

const KEPT_RUNS = 200;
const KEPT_MS = 30 * 24 * 3_600_000;

/** Finished runs beyond the newest 200 go, and those older than 30 days; unfinished and waiting ones stay. */
export function pruneRuns(project: Project): void {
  const ids = runIds(project);
  const oldest = new Date(project.clock.now() - KEPT_MS).toISOString().replaceAll('-', '').slice(0, 8);
  // Looking at names costs nothing; most runs end here.
  if (ids.length <= KEPT_RUNS && (ids.at(-1) ?? '9') >= oldest) return;
  // All are looked at before the first one goes: a run is finished if another one went on with it.
  const finished = ids.filter((runId, index) => (index >= KEPT_RUNS || runId < oldest) && isFinished(project, runId));
  for (const runId of finished) removeRun(project, runId);
  if (finished.length > 0) prunePointers(project);
}

function isFinished(project: Project, runId: string): boolean {
  const state = runHead(project, runId)?.state;
  if (state === undefined || state === 'running') return false;
  return state === 'success' || wentOn(project, runId);
}
