import type { ShownOutcome } from '../../../model/outcome.js';
import { type WaitingApproval, waitingApprovals } from '../../../run/history/decide-approval.js';
import { recordedOutcome } from '../../../run/history/recorded-outcome.js';
import { currentLimit, type RunHead, runJson } from '../../../run/history/run-head.js';
import { continuedBy } from '../../../run/history/succession.js';
import { type RunTrace, traceRun } from '../../../run/history/trace.js';
import { formatAgo, formatDuration } from '../../../util/duration.js';
import { oneLine, sanitize } from '../../../util/terminal-text.js';
import type { Command, Invocation, Writer } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag } from '../../flags/common-flags.js';
import { findRun } from '../../load/run-ref.js';
import { decisionJson, decisionText, questionLines } from '../../run/decision-text.js';
import { createStyle, type Style } from '../../terminal/style.js';
import { resetText, waitingText } from '../../text/limit-text.js';
import { stateText } from '../../text/run-facts.js';
import { drawRun } from '../../view/draw.js';
import { applyEvent, createRunState } from '../../view/run-state.js';

export const command: Command = {
  usage: 'RUN [--json]',
  examples: [
    { command: 'taskflow runs show last', does: 'how the last run went, phase by phase' },
    { command: 'taskflow runs show last --json', does: 'with all outputs, for programs' },
  ],
  flags: [jsonFlag('as JSON, with outputs')],
  positionals: [{ name: 'RUN', help: 'id of a run, a unique part of it, or last', required: true }],
  async run(invocation) {
    const found = findRun(invocation.project, invocation.positionals[0]!);
    if ('problem' in found) return complain(invocation, found.problem, found.hint);
    const trace = traceRun(invocation.project, found.runId);
    if (!trace) return complain(invocation, `the journal of ${found.runId} cannot be read`);
    const { head } = trace;
    if (head.run.mode === 'batch') return showRows(invocation, trace);
    const outcomes = topLevelOutcomes(trace, invocation.project.root);
    if (invocation.flags.boolean('json')) {
      const phases = head.run.phases.map(({ id, kind }) => outcomes.get(id) ?? { id, kind, status: null });
      const json = {
        ...runJson(head),
        continuedBy: continuedBy(invocation.project, head.runId) ?? null,
        args: head.run.args,
        phases,
        ...waitingJson(invocation, head),
        ...limitJson(invocation, head),
      };
      invocation.out.json(json);
      return EXIT.success;
    }
    show(invocation, head, outcomes);
    return EXIT.success;
  },
};

/** The questions of a paused run, and the decisions since. */
function waitingJson({ project }: Invocation, { runId, state }: RunHead) {
  if (state !== 'paused') return {};
  const waiting = waitingApprovals(project, runId).map(({ phase, text, decided }) => ({
    phase,
    text,
    decided: decided ? decisionJson(decided) : null,
  }));
  return { waiting };
}

/** The usage limit that the run waits for, or that paused it. */
function limitJson({ project }: Invocation, head: RunHead) {
  const limit = currentLimit(project, head);
  if (limit) return { limit: { runner: limit.runner, until: limit.until, known: limit.known } };
  const { state, end } = head;
  if (state !== 'paused' || end?.failure?.code !== 'usage-limit') return {};
  const { resetsAt } = end.failure;
  return { limit: { until: resetsAt ?? null, known: resetsAt !== undefined } };
}

async function showRows(invocation: Invocation, trace: RunTrace): Promise<number> {
  const { batchOf, showBatch } = await import('../../batch/show-batch.js');
  if (invocation.flags.boolean('json')) invocation.out.json(batchOf(trace));
  else showBatch(invocation, trace);
  return EXIT.success;
}

/** The flow's own phases: nested ones have a path. */
function topLevelOutcomes({ phases }: RunTrace, root: string): Map<string, ShownOutcome> {
  const outcomes = new Map<string, ShownOutcome>();
  for (const { phase, result } of phases) {
    if (result && !phase.includes('/')) outcomes.set(phase, recordedOutcome(result, root));
  }
  return outcomes;
}

function show({ out, project }: Invocation, head: RunHead, outcomes: ReadonlyMap<string, ShownOutcome>): void {
  const style = createStyle(out.color);
  const { run } = head;
  const now = project.clock.now();
  const args = Object.entries(run.args).map(([name, value]) => `${name}=${oneLine(JSON.stringify(value))}`);
  const limit = currentLimit(project, head);
  const facts = [
    `${style.bold(run.flow)} ${stateText(head.state, style)}`,
    ...(limit ? [waitingText(limit, now)] : []),
    formatAgo(now - run.at),
    `took ${formatDuration(runJson(head).durationMs)}`,
  ];
  out.write(`${facts.join(style.dim(' · '))}\n${style.dim(`run ${run.runId}${run.file ? `, ${run.file}` : ''}`)}\n`);
  if (run.continues) out.write(style.dim(`continued run ${run.continues}\n`));
  if (args.length > 0) out.write(style.dim(`arguments: ${args.join(' ')}\n`));
  const heir = continuedBy(project, run.runId);
  const waiting = head.state === 'paused' ? waitingApprovals(project, run.runId) : [];
  out.write(`${picture(head, outcomes, { out, style, waiting, now }).join('\n')}\n`);
  for (const line of afterwards(head, heir, { waiting, style, now })) out.write(`${line}\n`);
}

interface Drawing {
  readonly out: Writer;
  readonly style: Style;
  readonly waiting: readonly WaitingApproval[];
  readonly now: number;
}

/** A line per phase. An approval that was decided since does not wait any more. */
function picture({ run, endedAt }: RunHead, outcomes: ReadonlyMap<string, ShownOutcome>, drawing: Drawing): string[] {
  const { out, style, waiting, now } = drawing;
  const state = createRunState();
  applyEvent(state, { type: 'run-start', at: run.at, runId: run.runId, flow: run.flow, phases: run.phases });
  for (const [phase, outcome] of outcomes)
    applyEvent(state, { type: 'phase-end', at: run.at, runId: run.runId, phase, outcome });
  for (const { phase, decided } of waiting) {
    const shown = decided && state.phases.find(({ id }) => id === phase);
    if (shown) Object.assign(shown, { outcome: undefined, note: decisionText(decided, now) });
  }
  const rows = run.phases.length + 2;
  return drawRun(state, { style, columns: out.columns, rows, now: endedAt, tick: 0 }).slice(1);
}

/** Why it ended as it did, and what to do next. */
function afterwards(
  { runId, state, end }: RunHead,
  heir: string | undefined,
  { waiting, style, now }: Omit<Drawing, 'out'>,
): string[] {
  if (heir !== undefined) return ['', `${style.dim('→')} it went on as run ${heir}`];
  if (state === 'paused' && end?.failure?.code === 'usage-limit') {
    return ['', `${style.dim('→')} taskflow resume ${runId}    goes on (${resetText(end.failure.resetsAt, now)})`];
  }
  if (state === 'paused') {
    const next = waiting.every(({ decided }) => decided) ? 'goes on with it' : 'goes on once it is decided';
    // The picture shows what was decided about the flow's own approvals.
    const open = waiting.filter(({ phase, decided }) => !decided || phase.includes('/'));
    const resume = `${style.dim('→')} taskflow resume ${runId}    ${next}`;
    return ['', ...questionLines(open, runId, { style, now }), resume];
  }
  if (!end?.failure) return [];
  const { phase, message, hint } = end.failure;
  const lines = ['', `${style.red('✖')} ${phase === undefined ? '' : `${phase} `}${sanitize(message)}`];
  return hint ? [...lines, `  ${style.dim('→')} ${oneLine(hint)}`] : lines;
}
