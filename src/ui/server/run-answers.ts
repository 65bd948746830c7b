import type { RecordedState } from '../../run/history/run-head.js';
import { isRunId } from '../../run/history/runs-folder.js';
import { continuedBy } from '../../run/history/succession.js';
import { compareRuns } from '../view/compare.js';
import { runBefore } from '../view/run-before.js';
import type { RunView } from '../view/types.js';
import { type Answer, refused } from './answer.js';
import { type Question, questionsOf } from './approvals.js';
import { runMark } from './changes.js';
import type { Asked, Site } from './site.js';

/** A run as it is now, with what can be decided about it. */
export interface LiveRun {
  readonly view: RunView;
  readonly continuedBy: string | null;
  readonly questions: readonly Question[];
  /** Of this state: `since` of the events that follow. */
  readonly mark: string;
  /** The run before it of the same flow. */
  readonly before: string | null;
}

/** One that succeeded asks nothing, and one that is under way asks on its own terminal. */
const MAY_ASK: ReadonlySet<RecordedState> = new Set<RecordedState>([
  ...(['paused', 'failed', 'blocked', 'over-budget', 'interrupted', 'crashed'] as const),
]);

export async function runAnswer(site: Site, { part: runId }: Asked): Promise<Answer> {
  const { project } = site.host;
  // Before it is read: what is said meanwhile is a change.
  const mark = runMark(project, runId);
  const run = await site.shown.get(runId);
  if (!run) return noRun(runId);
  const { view } = run;
  return {
    json: {
      view,
      continuedBy: continuedBy(project, runId) ?? null,
      questions: MAY_ASK.has(view.state) ? questionsOf(project, runId) : [],
      mark,
      before: runBefore(project, runId) ?? null,
    } satisfies LiveRun,
  };
}

/** Null: nothing more was recorded of it. */
export async function detailAnswer({ shown }: Site, { part: runId, query }: Asked): Promise<Answer> {
  return { json: (await shown.get(runId))?.details.get(query.get('name') ?? '') ?? null };
}

/** Null: there is no other run of this flow. */
export async function compareAnswer(site: Site, { part: runId, query }: Asked): Promise<Answer> {
  const now = (await site.shown.get(runId))?.view;
  if (!now) return noRun(runId);
  const other = query.get('with') ?? runBefore(site.host.project, runId);
  const before = other !== undefined && isRunId(other) ? (await site.shown.get(other))?.view : undefined;
  return { json: before ? compareRuns(now, before) : null };
}

function noRun(runId: string): Answer {
  return refused(404, `there is no run ${runId}`, 'It was removed, or never was.');
}
