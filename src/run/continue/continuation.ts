import { basename } from 'node:path';
import type { Failure } from '../../model/failure.js';
import { formatAgo } from '../../util/duration.js';
import type { RunOptions } from '../core/options.js';
import type { RunGroup } from '../core/run-group.js';
import { isOwnRun } from '../history/own-runs.js';
import { hasMoreToDo, type RunHead } from '../history/run-head.js';
import { lastRunId } from '../history/runs-folder.js';
import { claimRun, latestOf, type Succession } from '../history/succession.js';
import { ofAnotherFlow } from './same-flow.js';

/** What to continue, or why not. `notice`: worth a line for the person. */
export type Decision =
  | { readonly previous: RunHead; readonly how: 'auto' | 'resume'; readonly notice?: string }
  | { readonly previous?: undefined; readonly notice?: string }
  | { readonly failure: Failure };

/** Claims the run to continue for the new run. A forecast has no new run's id, and claims nothing. */
export function decideContinuation(options: RunOptions, group: RunGroup, newRunId: string | undefined): Decision {
  const wanted = options.continuation ?? { how: 'auto', finished: false };
  const { mode } = options.config.iteration;
  if (wanted.how === 'checkpoint') return {};
  if (wanted.how === 'resume') return resume(options, wanted.runId, newRunId);
  const { only, from, rerun = [] } = options.selection ?? {};
  if (only !== undefined || from !== undefined) return partial(options, group);
  // `--frozen` asks what the store has, not what an unfinished run has left: it continues one only on demand.
  if (wanted.how !== 'auto' || options.frozen || options.reuse === 'off' || options.reuse === 'refresh') return {};
  // A person who wants one phase to run again wants the rest as it was.
  const asked = wanted.finished || mode === 'always' || rerun.length > 0;
  if (options.source.file === undefined) return {};
  if (!asked && (options.source.byName || mode === 'off')) return {};
  return auto({ options, group, newRunId, finished: asked });
}

interface AutoRequest {
  readonly options: RunOptions;
  readonly group: RunGroup;
  readonly newRunId: string | undefined;
  /** Continues a finished run too. */
  readonly finished: boolean;
}

function auto({ options, group, newRunId, finished }: AutoRequest): Decision {
  const { project, config } = options;
  const latest = latestIn(options, group);
  if (!latest) return {};
  if ('claimedBy' in latest) return { notice: `run ${latest.claimedBy} of this flow has just begun: starting afresh` };
  const { head } = latest;
  if (head.run.mode === 'batch') return {};
  if (head.state === 'running') return { notice: `run ${head.runId} of this flow is under way: starting afresh` };
  const isEdited = head.run.fileDigest !== undefined && head.run.fileDigest !== options.source.digest;
  if (!hasMoreToDo(head) && !finished && !isEdited) return {};
  const ageMs = project.clock.now() - head.endedAt;
  // Its results are too old to be reused; a person's decision that waits to be used is not.
  if (ageMs > config.iteration.ttlMs && !finished && head.state !== 'paused') return {};
  if (!isOwnRun(project, head.runId)) {
    const named = `taskflow resume ${head.runId} goes on with it`;
    return { notice: `run ${head.runId} of this flow is not one of yours: starting afresh; ${named}` };
  }
  if (newRunId !== undefined && !claimRun(project, { runId: head.runId, place: latest.free }, newRunId)) {
    return { notice: `run ${head.runId} is being continued by another process: starting afresh` };
  }
  return { previous: head, how: 'auto', notice: whyContinued(options, head, { ageMs, isEdited }) };
}

/** `succeeded 3m ago, flow.yaml edited`. */
function whyContinued(
  { source }: RunOptions,
  { state }: RunHead,
  { ageMs, isEdited }: { readonly ageMs: number; readonly isEdited: boolean },
): string {
  const ended = `${state === 'success' ? 'succeeded' : state} ${formatAgo(ageMs)}`;
  return isEdited ? `${ended}, ${basename(source.file ?? source.ref)} edited` : ended;
}

/** That run, or the newest that continues it: what happened since must not happen again. */
function resume({ project, flow, batch }: RunOptions, runId: string, newRunId: string | undefined): Decision {
  const latest = latestOf(project, runId);
  if (!latest) return refuse(`there is no run ${runId} to go on with`, '`taskflow runs` lists them.');
  if ('claimedBy' in latest)
    return refuse(`run ${runId} is being continued by run ${latest.claimedBy}`, 'Wait for it.');
  const { head } = latest;
  const another = ofAnotherFlow(project, flow, head);
  if (another) return { failure: another };
  if (head.run.mode === 'batch' && !batch) {
    return refuse(`run ${head.runId} is a batch`, '`taskflow batch FLOW --over FILE --resume` goes on with it.');
  }
  if (head.state === 'running') {
    return refuse(`run ${head.runId} is under way in another process`, 'Wait for it, or end it.');
  }
  if (newRunId !== undefined && !claimRun(project, { runId: head.runId, place: latest.free }, newRunId)) {
    return refuse(`run ${head.runId} is being continued by another process`, 'Wait for it.');
  }
  return {
    previous: head,
    how: 'resume',
    notice: head.runId === runId ? undefined : `run ${runId} went on as ${head.runId}`,
  };
}

function refuse(message: string, hint: string): Decision {
  return { failure: { code: 'bad-input', message, hint } };
}

/** Outputs for a partial run. It claims nothing: other runs may continue the one they come from. */
function partial(options: RunOptions, group: RunGroup): Decision {
  const latest = latestIn(options, group);
  return latest && 'head' in latest && isOwnRun(options.project, latest.head.runId)
    ? { previous: latest.head, how: 'resume' }
    : {};
}

function latestIn({ project }: RunOptions, { flowId, argsDigest }: RunGroup): Succession | undefined {
  const runId = lastRunId(project, flowId, argsDigest);
  return runId === undefined ? undefined : latestOf(project, runId);
}
