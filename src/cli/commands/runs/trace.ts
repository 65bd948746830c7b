import { type PhaseTrace, type RunTrace, traceRun } from '../../../run/history/trace.js';
import { plural } from '../../../util/format.js';
import { type NamedRow, RowNames } from '../../batch/row-names.js';
import type { Command, Invocation } from '../../boot/command.js';
import { EXIT } from '../../errors/exit-status.js';
import { complain } from '../../errors/problem.js';
import { jsonFlag, OTEL_FLAG } from '../../flags/common-flags.js';
import { findRun } from '../../load/run-ref.js';
import { TraceText } from '../../run/trace-text.js';

export const command: Command = {
  usage: 'RUN [PHASE] [--full] [--json] [--otel[=URL]]',
  description:
    'Every attempt with the inputs it had, timing, cost, retries and why it ran; for a failure all that is known.',
  examples: [
    { command: 'taskflow trace last', does: 'the whole last run' },
    { command: 'taskflow trace last review --full', does: 'one phase, with nothing shortened' },
    { command: 'taskflow trace last 3', does: 'the third row of a batch' },
  ],
  flags: [
    { name: 'full', type: 'boolean', help: 'do not shorten inputs and outputs' },
    { ...OTEL_FLAG, help: 'send it to an OpenTelemetry collector instead (http://localhost:4318)' },
    jsonFlag('as JSON: {run, phases: [{phase, starts, attempts, units, result, …}]}'),
  ],
  positionals: [
    { name: 'RUN', help: 'id of a run, a unique part of it, or last', required: true },
    {
      name: 'PHASE',
      help:
        'only this phase and what is nested in it; ' +
        'of a batch, in all rows: 3/PHASE is that of row 3, 3 the whole row',
      required: false,
    },
  ],
  async run(invocation) {
    const [typed, wanted] = invocation.positionals as [string, string | undefined];
    const found = findRun(invocation.project, typed);
    if ('problem' in found) return complain(invocation, found.problem, found.hint);
    if (invocation.flags.has('otel')) return sendOnly(invocation, found.runId);
    const trace = traceRun(invocation.project, found.runId);
    if (!trace) return complain(invocation, `the journal of ${found.runId} cannot be read`);
    const names = new RowNames(trace.rows);
    const phases = inRows(trace, names).filter(({ phase }) => wanted === undefined || names.fits(phase, wanted));
    if (wanted !== undefined && phases.length === 0) {
      const known = trace.head.run.phases.map(({ id }) => id).slice(0, 20);
      const rows = trace.rows.length > 0 ? `, in ${plural(trace.rows.length, 'row')}` : '';
      const hint = `it has: ${known.join(', ')}${rows}`;
      return complain(invocation, `nothing is known of ${wanted} in run ${found.runId}`, hint);
    }
    if (invocation.flags.boolean('json')) {
      const { head, ...rest } = trace;
      const named = phases.map((phase) => ({ ...rowFacts(names, phase), ...phase }));
      invocation.out.json({ ...head, ...rest, phases: named });
      return EXIT.success;
    }
    const text = new TraceText(invocation, trace.head.run.at, invocation.project.clock.now());
    text.run(trace);
    let row: NamedRow | undefined;
    for (const phase of phases) {
      const place = names.find(phase.phase);
      if (place && place.row !== row) text.row(place.row);
      row = place?.row;
      text.phase(phase, place?.phase);
    }
    if (wanted === undefined) text.end(trace);
    invocation.out.write(text.text);
    return EXIT.success;
  },
};

async function sendOnly(invocation: Invocation, runId: string): Promise<number> {
  const { exportTrace } = await import('../../run/otel.js');
  const sent = await exportTrace(invocation, runId);
  if ('problem' in sent) return complain(invocation, sent.problem);
  invocation.err.write(`sent ${plural(sent.spans, 'span')}\n`);
  return EXIT.success;
}

/** Sorts by row: rows run side by side, but are read one after the other. */
function inRows({ phases }: RunTrace, names: RowNames): readonly PhaseTrace[] {
  const numberOf = ({ phase }: PhaseTrace) => names.find(phase)?.row.row ?? Number.MAX_SAFE_INTEGER;
  return [...phases].sort((a, b) => numberOf(a) - numberOf(b));
}

function rowFacts(names: RowNames, { phase }: PhaseTrace) {
  const row = names.find(phase)?.row;
  return row ? { row: row.row, label: row.label } : {};
}
