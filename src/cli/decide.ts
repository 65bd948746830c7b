import { decideApproval } from '../run/decide-approval.js';
import { oneLine } from '../util/terminal-text.js';
import type { Command, Invocation } from './command.js';
import { EXIT } from './exit-status.js';
import { complain } from './problem.js';
import { findRun } from './run-ref.js';

const POSITIONALS: Command['positionals'] = [
  { name: 'RUN', help: 'id of the waiting run, a unique part of it, or last', required: true },
  { name: 'PHASE', help: 'the approval', required: true },
];

const FLAGS: Command['flags'] = [
  { name: 'note', type: 'string', value: 'TEXT', help: 'what later phases are told' },
  { name: 'json', type: 'boolean', help: 'as JSON: {runId, phase, decision}' },
];

/** `approve` and `reject` differ in one word. */
export function decisionCommand(decision: 'approve' | 'reject', examples: Command['examples']): Command {
  return {
    usage: 'RUN PHASE [--note TEXT] [--json]',
    description:
      'The decision is about exactly the text that the run has shown, and serves the run that goes on from there.',
    examples,
    flags: FLAGS,
    positionals: POSITIONALS,
    run: (invocation) => decide(invocation, decision),
  };
}

async function decide(invocation: Invocation, decision: 'approve' | 'reject'): Promise<number> {
  const [typed, phase] = invocation.positionals as [string, string];
  const found = findRun(invocation.project, typed, ({ state }) => state === 'paused');
  if ('problem' in found) return complain(invocation, found.problem, found.hint);
  const { runId } = found;
  const note = invocation.flags.string('note');
  const decided = decideApproval(invocation.project, {
    runId,
    phase,
    decision,
    ...(note === undefined ? {} : { note }),
  });
  if ('failure' in decided) return complain(invocation, decided.failure.message, decided.failure.hint);
  if (invocation.flags.boolean('json')) {
    invocation.out.write(`${JSON.stringify({ runId, phase: decided.asked.phase, decision })}\n`);
  } else {
    const word = decision === 'approve' ? 'approved' : 'rejected';
    invocation.out.write(`${word}: ${oneLine(decided.asked.text)}\n`);
    invocation.err.write(`next: taskflow resume ${runId}\n`);
  }
  return EXIT.success;
}
