import { userInfo } from 'node:os';
import { resumeCommand } from '../../run/batch/row-flags.js';
import { type Decided, decideApproval, waitingApprovals } from '../../run/history/decide-approval.js';
import { isUnfinished, type RunHead, runHead } from '../../run/history/run-head.js';
import { wentOn } from '../../run/history/succession.js';
import { traceRun } from '../../run/history/trace.js';
import type { Project } from '../../util/project.js';
import { oneLine } from '../../util/terminal-text.js';
import type { Command, Invocation } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { complain } from '../errors/problem.js';
import { jsonFlag } from '../flags/common-flags.js';
import { findRun } from '../load/run-ref.js';
import { decisionJson, decisionText } from './decision-text.js';

const POSITIONALS: Command['positionals'] = [
  { name: 'RUN', help: 'id of the waiting run, a unique part of it, or last', required: true },
  { name: 'PHASE', help: 'the approval; of a batch, 3/PHASE is that of row 3', required: true },
];

const FLAGS: Command['flags'] = [
  { name: 'note', type: 'string', value: 'TEXT', help: 'a word to later phases' },
  { name: 'by', type: 'string', value: 'NAME', help: 'who decides, and through which program', hidden: true },
  jsonFlag('as JSON: {runId, phase, decision, by, at, note, replaces, goesOnAs}'),
  { name: 'digest', type: 'string', value: 'D', help: 'of the text that was read', hidden: true },
];

/** `approve` and `reject` differ in one word. */
export function decisionCommand(decision: 'approve' | 'reject', examples: Command['examples']): Command {
  return {
    usage: 'RUN PHASE [--note TEXT] [--json]',
    description: [
      'The decision is about exactly the text that the run has shown, and holds for the run that continues it.',
      'Until then, another decision replaces this one, and says so.',
    ].join('\n'),
    examples,
    flags: FLAGS,
    positionals: POSITIONALS,
    run: (invocation) => decide(invocation, decision),
  };
}

async function decide(invocation: Invocation, decision: 'approve' | 'reject'): Promise<number> {
  const [typed, typedPhase] = invocation.positionals as [string, string];
  const found = findRun(invocation.project, typed, (head) => asksSomething(invocation, head));
  if ('problem' in found) return complain(invocation, found.problem, found.hint);
  const { runId } = found;
  const phase = typedPhasePath(invocation, runId, typedPhase);
  const note = invocation.flags.string('note');
  const by = invocation.flags.string('by') ?? whoDecides(invocation.project);
  const digest = invocation.flags.string('digest');
  const decided = decideApproval(invocation.project, { runId, phase, decision, note, by, digest });
  if ('failure' in decided) return complain(invocation, decided.failure.message, decided.failure.hint);
  const isJson = invocation.flags.boolean('json');
  if (!isJson) reportDecision(invocation, runId, decided);
  const next = await continueDetached(invocation, runId);
  if (next && 'runId' in next) invocation.err.write(`it goes on by itself as run ${next.runId}\n`);
  const goesOnAs = next && 'runId' in next ? next.runId : null;
  if (isJson) invocation.out.write(`${JSON.stringify({ ...decidedJson(runId, decided), goesOnAs })}\n`);
  return next && 'status' in next ? next.status : EXIT.success;
}

/** Continues a detached run once all its questions are answered: no person at a terminal would do it. */
async function continueDetached(
  invocation: Invocation,
  runId: string,
): Promise<{ readonly runId: string } | { readonly status: number } | undefined> {
  const { project } = invocation;
  const run = runHead(project, runId)?.run;
  if (!run?.detached || run.mode === 'batch' || wentOn(project, runId)) return undefined;
  if (waitingApprovals(project, runId).some(({ decided }) => !decided)) return undefined;
  const { startAlone } = await import('./detach.js');
  return startAlone(invocation, ['resume', runId, '--root', project.root]);
}

function reportDecision(
  { out, err, project }: Invocation,
  runId: string,
  { asked, decision, earlier, repeated }: Decided,
): void {
  const now = project.clock.now();
  const word = decision.decision === 'approve' ? 'approved' : 'rejected';
  out.write(`${repeated ? 'already ' : ''}${word}: ${oneLine(asked.text)}\n`);
  if (earlier && repeated) err.write(`${decisionText(earlier, now)}; nothing has changed\n`);
  else if (earlier) err.write(`this replaces what was decided before: ${decisionText(earlier, now)}\n`);
  const run = runHead(project, runId)?.run;
  if (run?.detached) return;
  err.write(`next: ${run?.mode === 'batch' ? resumeCommand(run) : `taskflow resume ${runId}`}\n`);
}

function decidedJson(runId: string, { asked, decision, earlier, repeated }: Decided) {
  const replaces = earlier && !repeated ? decisionJson(earlier) : null;
  return { runId, phase: asked.phase, ...decisionJson(decision), replaces };
}

/** Also a failed run, or a batch with failed rows, may have an open question. */
function asksSomething({ project }: Invocation, { runId, state }: RunHead): boolean {
  return isUnfinished(state) && !wentOn(project, runId) && waitingApprovals(project, runId).length > 0;
}

/** `3/ask` is the approval of row 3. */
function typedPhasePath({ project }: Invocation, runId: string, typedPhase: string): string {
  if (!/^\d+\//.test(typedPhase)) return typedPhase;
  const row = traceRun(project, runId)?.rows.find(({ row: number }) => number === Number.parseInt(typedPhase, 10));
  return row ? `${row.path}${typedPhase.slice(typedPhase.indexOf('/'))}` : typedPhase;
}

/** The user's name on this machine; in CI, the person who started the job. */
export function whoDecides({ env }: Project): string | undefined {
  const user = env['GITHUB_ACTOR'] || env['USER'] || env['LOGNAME'];
  if (user) return user;
  try {
    return userInfo().username;
  } catch {
    // A container may run as a number that has no name.
    return undefined;
  }
}
