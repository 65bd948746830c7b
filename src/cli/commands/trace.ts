import { traceRun } from '../../run/trace.js';
import type { Command } from '../command.js';
import { EXIT } from '../exit-status.js';
import { complain } from '../problem.js';
import { findRun } from '../run-ref.js';
import { TraceText } from '../trace-text.js';

export const command: Command = {
  usage: 'RUN [PHASE] [--full] [--json]',
  description:
    'Every attempt with the inputs it had, timing, cost, retries and why it ran; for a failure all that is known.',
  examples: [
    { command: 'taskflow trace last', does: 'the whole last run' },
    { command: 'taskflow trace last review --full', does: 'one phase, with nothing shortened' },
  ],
  flags: [
    { name: 'full', type: 'boolean', help: 'do not shorten inputs and outputs' },
    { name: 'json', type: 'boolean', help: 'as JSON: {run, phases: [{phase, starts, attempts, units, result, …}]}' },
  ],
  positionals: [
    { name: 'RUN', help: 'id of a run, a unique part of it, or last', required: true },
    { name: 'PHASE', help: 'only this phase and what is nested in it', required: false },
  ],
  async run(invocation) {
    const [typed, wanted] = invocation.positionals as [string, string | undefined];
    const found = findRun(invocation.project, typed);
    if ('problem' in found) return complain(invocation, found.problem, found.hint);
    const trace = traceRun(invocation.project, found.runId);
    if (!trace) return complain(invocation, `the journal of ${found.runId} cannot be read`);
    const phases = trace.phases.filter(
      ({ phase }) => wanted === undefined || phase === wanted || phase.startsWith(`${wanted}/`),
    );
    if (wanted !== undefined && phases.length === 0) {
      const known = trace.head.run.phases.map(({ id }) => id).slice(0, 20);
      return complain(invocation, `nothing is known of ${wanted} in run ${found.runId}`, `it has: ${known.join(', ')}`);
    }
    if (invocation.flags.boolean('json')) {
      const { head, ...rest } = trace;
      invocation.out.write(`${JSON.stringify({ ...head, ...rest, phases }, null, 2)}\n`);
      return EXIT.success;
    }
    const text = new TraceText(invocation, trace.head.run.at, invocation.project.clock.now());
    text.run(trace);
    for (const phase of phases) text.phase(phase);
    if (wanted === undefined) text.end(trace);
    invocation.out.write(text.text);
    return EXIT.success;
  },
};
