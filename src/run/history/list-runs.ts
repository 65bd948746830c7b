import type { Project } from '../../util/project.js';
import { type RunHead, runHead } from './run-head.js';
import { forgetLastRuns, prunePointers, removeRun, runBytes, runIds } from './runs-folder.js';

/** Runs, the newest first; of one flow (by name or file) if given. */
export function listRuns(
  project: Project,
  options: { readonly flow?: string; readonly limit?: number } = {},
): RunHead[] {
  const { flow, limit = Number.POSITIVE_INFINITY } = options;
  const heads: RunHead[] = [];
  for (const runId of runIds(project)) {
    if (heads.length >= limit) break;
    const head = runHead(project, runId);
    if (head && (flow === undefined || isOf(head, flow))) heads.push(head);
  }
  return heads;
}

/** How much there is, whatever it is worth. */
export function sizeOfRuns(project: Project): { readonly runs: number; readonly bytes: number } {
  const ids = runIds(project);
  return { runs: ids.length, bytes: ids.reduce((sum, runId) => sum + runBytes(project, runId), 0) };
}

function isOf({ run }: RunHead, flow: string): boolean {
  return run.flow === flow || run.file === flow || run.ref === flow;
}

interface ClearRuns {
  readonly flow?: string;
  readonly olderThanMs?: number;
  /** Unfinished and waiting ones too. */
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

/** Removes runs; those that are under way stay. */
export function clearRuns(
  project: Project,
  { flow, olderThanMs = 0, all = false, dryRun = false }: ClearRuns,
): RunHead[] {
  const now = project.clock.now();
  const removed = listRuns(project, { flow }).filter(
    (head) => head.state !== 'running' && (all || head.state === 'success') && now - head.endedAt >= olderThanMs,
  );
  if (dryRun) return removed;
  for (const head of removed) removeRun(project, head.runId);
  if (all && olderThanMs === 0) forgetLastRuns(project, flow);
  else prunePointers(project);
  return removed;
}
