import type { Continuation } from '../core/options.js';
import { batchDigest } from '../core/run-group.js';
import { lastRunId } from '../history/runs-folder.js';
import type { BatchOptions } from './options.js';

/** To go on with the last batch of a flow over a list of that name. */
export function lastBatch({
  project,
  flow,
  source,
  over,
}: Pick<BatchOptions, 'project' | 'flow' | 'source' | 'over'>): Continuation | { readonly problem: string } {
  const runId = lastRunId(project, flow.file ?? source.ref, batchDigest(over));
  return runId === undefined
    ? { problem: `there is no batch of ${flow.name} over ${over} to resume` }
    : { how: 'resume', runId };
}
