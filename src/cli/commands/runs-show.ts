import type { PhaseOutcome } from '../../model/outcome.js';
import type { RunHead } from '../../run/run-state.js';
import { type RunTrace, traceRun } from '../../run/trace.js';
import { formatAgo, formatDuration } from '../../util/duration.js';
import { oneLine, sanitize } from '../../util/terminal-text.js';
import type { Command, Invocation } from '../command.js';
import { EXIT } from '../exit-status.js';
import { complain } from '../problem.js';
import { recordedOutcome } from '../recorded-outcome.js';
import { findRun } from '../run-ref.js';
import { createStyle } from '../style.js';
import { drawRun } from '../view/draw.js';
import { applyEvent, createRunState } from '../view/run-state.js';
import { runJson, stateText } from './runs.js';

export const command: Command = {
  usage: 'RUN [--json]',
  examples: [
    { command: 'taskflow runs show last', does: 'how the last run went, phase by phase' },
    { command: 'taskflow runs show last --json', does: 'with all outputs, for programs' },
  ],
  flags: [{ name: 'json', type: 'boolean', help: 'as JSON, with outputs' }],
  positionals: [{ name: 'RUN', help: 'id of a run, a unique part of it, or last', required: true }],
  async run(invocation) {
    const found = findRun(invocation.project, invocation.positionals[0]!);
    if ('problem' in found) return complain(invocation, found.problem, found.hint);
    const trace = traceRun(invocation.project, found.runId);
    if (!trace) return complain(invocation, `the journal of ${found.runId} cannot be read`);
    const { head } = trace;
    if (head.run.mode === 'batch') return showRows(invocation, trace);
    const outcomes = topLevelOutcomes(trace);
    if (invocation.flags.boolean('json')) {
      const phases = head.run.phases.map(({ id, kind }) => outcomes.get(id) ?? { id, kind, status: null });
      invocation.out.write(`${JSON.stringify({ ...runJson(head), args: head.run.args, phases }, null, 2)}\n`);
      return EXIT.success;
    }
    show(invocation, head, outcomes);
    return EXIT.success;
  },
};

async function showRows(invocation: Invocation, trace: RunTrace): Promise<number> {
  const { batchOf, showBatch } = await import('../batch/show-batch.js');
  if (invocation.flags.boolean('json')) invocation.out.write(`${JSON.stringify(batchOf(trace), null, 2)}\n`);
  else showBatch(invocation, trace);
  return EXIT.success;
}

/** The flow's own phases: nested ones have a path. */
function topLevelOutcomes({ phases }: RunTrace): Map<string, PhaseOutcome> {
  const outcomes = new Map<string, PhaseOutcome>();
  for (const { phase, result } of phases) {
    if (result && !phase.includes('/')) outcomes.set(phase, recordedOutcome(result));
  }
  return outcomes;
}

function show({ out, project }: Invocation, head: RunHead, outcomes: ReadonlyMap<string, PhaseOutcome>): void {
  const style = createStyle(out.color);
  const { run } = head;
  const now = project.clock.now();
  const state = createRunState();
  applyEvent(state, { type: 'run-start', at: run.at, runId: run.runId, flow: run.flow, phases: run.phases });
  for (const [phase, outcome] of outcomes)
    applyEvent(state, { type: 'phase-end', at: run.at, runId: run.runId, phase, outcome });
  const lines = drawRun(state, {
    style,
    columns: out.columns,
    rows: run.phases.length + 2,
    now: head.endedAt,
    tick: 0,
  });
  const args = Object.entries(run.args).map(([name, value]) => `${name}=${oneLine(JSON.stringify(value))}`);
  const facts = [
    `${style.bold(run.flow)} ${stateText(head.state, style)}`,
    formatAgo(now - run.at),
    `took ${formatDuration(runJson(head).durationMs)}`,
  ];
  out.write(`${facts.join(style.dim(' · '))}\n${style.dim(`run ${run.runId}${run.file ? `, ${run.file}` : ''}`)}\n`);
  if (run.continues) out.write(style.dim(`continued run ${run.continues}\n`));
  if (args.length > 0) out.write(style.dim(`arguments: ${args.join(' ')}\n`));
  out.write(`${lines.slice(1).join('\n')}\n`);
  const failure = head.end?.failure;
  if (failure) {
    out.write(`\n${style.red('✖')} ${failure.phase ?? ''} ${sanitize(failure.message)}\n`);
    if (failure.hint) out.write(`  ${style.dim('→')} ${oneLine(failure.hint)}\n`);
  }
}
