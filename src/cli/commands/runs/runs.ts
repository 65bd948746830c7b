import { waitingApprovals } from '../../../run/history/decide-approval.js';
import { listRuns, sizeOfRuns } from '../../../run/history/list-runs.js';
import { currentLimit, type RunHead, runJson } from '../../../run/history/run-head.js';
import { wentOn } from '../../../run/history/succession.js';
import { formatAgo, formatDuration } from '../../../util/duration.js';
import { formatBill, formatBytes, plural } from '../../../util/format.js';
import type { Project } from '../../../util/project.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { createStyle, type Style } from '../../terminal/style.js';
import { resetText, waitingText } from '../../text/limit-text.js';
import { stateText } from '../../text/run-facts.js';
import { alignColumns } from '../../text/table.js';

const STATES = ['success', 'failed', 'blocked', 'paused', 'over-budget', 'interrupted', 'running', 'crashed'] as const;

export const command: Command = {
  usage: '[--flow NAME] [--state S] [--limit N] [--json]',
  examples: [
    { command: 'taskflow runs', does: 'the last 20 runs' },
    { command: 'taskflow runs --state paused', does: 'what waits for an approval' },
  ],
  flags: [
    { name: 'flow', type: 'string', value: 'NAME', help: 'only runs of this flow (name or file)' },
    { name: 'state', type: 'string', value: 'S', choices: STATES, help: STATES.join(', ') },
    { name: 'limit', type: 'number', value: 'N', help: 'at most this many (20)' },
    jsonFlag('as JSON: [{runId, flow, file, state, startedAt, durationMs, spent, saved}]'),
  ],
  positionals: [],
  async run(invocation) {
    const limit = limitOf(invocation.flags);
    if (!Number.isInteger(limit) || limit < 1) return complain(invocation, '--limit is a whole number from 1 on');
    const heads = chosenRuns(invocation).sort((a, b) => b.run.at - a.run.at);
    if (invocation.flags.boolean('json')) {
      invocation.out.json(heads.map(runJson));
      return EXIT.success;
    }
    if (heads.length === 0) invocation.err.write('no runs\n');
    const style = createStyle(invocation.out.color);
    invocation.out.write(alignColumns(heads.map((head) => row(head, invocation.project, style))));
    reportMore(invocation, heads.length);
    return EXIT.success;
  },
};

/** Reports that there may be more runs than shown, and how many are kept. */
function reportMore({ flags, project, err }: Invocation, shown: number): void {
  const { runs, bytes } = sizeOfRuns(project);
  if (shown < limitOf(flags) || shown === runs) return;
  err.write(`the newest ${shown}; --limit N shows more (${plural(runs, 'run')} kept, ${formatBytes(bytes)})\n`);
}

function limitOf(flags: Invocation['flags']): number {
  return flags.number('limit') ?? 20;
}

function chosenRuns({ flags, project }: Invocation): RunHead[] {
  const limit = limitOf(flags);
  const flow = flags.string('flow');
  const state = flags.string('state');
  if (state === undefined) return listRuns(project, { flow, limit });
  return listRuns(project, { flow })
    .filter((head) => head.state === state)
    .slice(0, limit);
}

function row(head: RunHead, project: Project, style: Style): string[] {
  const now = project.clock.now();
  const { runId, run, state, end } = head;
  const { durationMs, spent } = runJson(head);
  const money = end && spent ? formatBill(spent, end.saved) : '';
  const took = state === 'running' ? `for ${formatDuration(now - run.at)}` : formatDuration(durationMs);
  return [
    runId,
    run.mode === 'batch' ? `${run.flow} over ${run.over ?? '?'}` : run.flow,
    `${stateText(state, style)}${style.dim(whatItWaitsFor(project, head))}`,
    formatAgo(now - run.at),
    took,
    style.dim(money),
  ];
}

/** A usage limit; or, for a paused run, that it was continued or that all its approvals are decided. */
function whatItWaitsFor(project: Project, head: RunHead): string {
  const { runId, state, end } = head;
  const now = project.clock.now();
  const limit = currentLimit(project, head);
  if (limit) return ` (${waitingText(limit, now)})`;
  if (state !== 'paused') return '';
  if (wentOn(project, runId)) return ' (went on)';
  if (end?.failure?.code === 'usage-limit') return ` (${resetText(end.failure.resetsAt, now)})`;
  return waitingApprovals(project, runId).every(({ decided }) => decided) ? ' (decided)' : '';
}
