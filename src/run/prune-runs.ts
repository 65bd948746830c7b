import type { Project } from '../util/project.js';
import { runHead } from './run-state.js';
import { prunePointers, removeRun, runIds } from './runs-folder.js';

const KEPT_RUNS = 200;
const KEPT_MS = 30 * 24 * 3_600_000;

/** Finished runs beyond the newest 200 go, and those older than 30 days; unfinished and waiting ones stay. */
export function pruneRuns(project: Project): void {
  const ids = runIds(project);
  const oldest = new Date(project.clock.now() - KEPT_MS).toISOString().replaceAll('-', '').slice(0, 8);
  // Looking at names costs nothing; most runs end here.
  if (ids.length <= KEPT_RUNS && (ids.at(-1) ?? '9') >= oldest) return;
  let removed = 0;
  for (const [index, runId] of ids.entries()) {
    if (index < KEPT_RUNS && runId >= oldest) continue;
    if (runHead(project, runId)?.state !== 'success') continue;
    removeRun(project, runId);
    removed += 1;
  }
  if (removed > 0) prunePointers(project);
}
