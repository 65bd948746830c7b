import { listRuns } from '../../run/history/list-runs.js';
import { runHead } from '../../run/history/run-head.js';
import type { Project } from '../../util/project.js';

/** The run of the same flow before this one; with the same arguments, if there is one of those. */
export function runBefore(project: Project, runId: string): string | undefined {
  const run = runHead(project, runId)?.run;
  if (!run) return undefined;
  const earlier = listRuns(project, { flow: run.file ?? run.flow }).filter(
    (head) => head.run.at < run.at && head.run.mode === run.mode && head.run.flow === run.flow,
  );
  const same = earlier.find((head) => head.run.argsDigest === run.argsDigest);
  return (same ?? earlier[0])?.runId;
}
