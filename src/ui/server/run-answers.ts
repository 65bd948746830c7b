import type { RecordedState } from '../../run/history/run-head.js';
import { isRunId } from '../../run/history/runs-folder.js';
import { continuedBy } from '../../run/history/succession.js';
import { compareRuns } from '../view/compare.js';
import type { ReadRun } from '../view/read-run.js';
import { runBefore } from '../view/run-before.js';
import { TextBudget } from '../view/text.js';
import type { RunView } from '../view/types.js';
import { withInputs } from '../view/with-inputs.js';
import { type PageAnswer, refused } from './answer.js';
import { type OpenQuestion, questionsOf } from './approvals.js';
import { type BatchToResume, batchToResume } from './batch-to-resume.js';
import { changeMark } from './changes.js';
import type { PageRequest, Site } from './site.js';

/** A run as it is now, with what can be decided about it. */
export interface LiveRun {
  readonly view: RunView;
  readonly continuedBy: string | null;
  readonly questions: readonly OpenQuestion[];
  /** Identifies this state: the `since` of later events. */
  readonly mark: string;
  /** The run before it of the same flow. */
  readonly before: string | null;
  /** In a batch: how to continue it. Null: there is a later batch over the same rows. */
  readonly batch: Pick<BatchToResume, 'command' | 'byHand'> | null;
}

/** States with open questions: a finished run has none, and a running one asks at its own terminal. */
const MAY_ASK: ReadonlySet<RecordedState> = new Set<RecordedState>([
  ...(['paused', 'failed', 'blocked', 'over-budget', 'interrupted', 'crashed'] as const),
]);

export async function runAnswer(site: Site, { part: runId }: PageRequest): Promise<PageAnswer> {
  const { project } = site.host;
  // Taken before the read, so that a line that is written meanwhile counts as a change.
  const mark = changeMark(project, runId);
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
      batch: (view.mode === 'batch' && batchToResume(project, runId)) || null,
    } satisfies LiveRun,
  };
}

/** Characters that one detail may have beside those from the journal. */
const OF_INPUTS = 1_000_000;

/** Null: the journal has no more about it. */
export async function detailAnswer(site: Site, { part: runId, query }: PageRequest): Promise<PageAnswer> {
  const run = await site.shown.get(runId);
  const before = await runBeside(site, runId, query);
  const sources = { ...(await inputSources(site)), outputs: true, ...(before && { before }) };
  return { json: (run && withInputs(run, query.get('name') ?? '', sources)) ?? null };
}

async function inputSources({ host }: Site) {
  return { kept: await host.store(), texts: new TextBudget(OF_INPUTS, host.mask) };
}

/** The chosen run to compare with, else the one before. */
async function runBeside(
  { host, shown }: Site,
  runId: string,
  query: PageRequest['query'],
): Promise<ReadRun | undefined> {
  const other = query.get('with') ?? runBefore(host.project, runId);
  return other !== undefined && isRunId(other) ? shown.get(other) : undefined;
}

/** Null: there is no other run of this flow. */
export async function compareAnswer(site: Site, { part: runId, query }: PageRequest): Promise<PageAnswer> {
  const now = await site.shown.get(runId);
  if (!now) return noRun(runId);
  const before = await runBeside(site, runId, query);
  return { json: before ? compareRuns(now, before, await inputSources(site)) : null };
}

function noRun(runId: string): PageAnswer {
  return refused(404, `there is no run ${runId}`, 'It was removed, or never was.');
}
