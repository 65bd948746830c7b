import type { ApprovalPhase } from '../../model/flow.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import { formatDuration } from '../../util/duration.js';
import { shellWord } from '../../util/shell-word.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Execution, failedBefore, pureResult } from '../core/execution.js';
import type { ApprovalAnswer } from '../core/options.js';
import { render } from '../render/render.js';
import { runWhole } from '../units/run-unit.js';
import type { KindHandler } from './kind.js';

export const approvalKind: KindHandler<ApprovalPhase> = {
  run: (at) => {
    const text = render(at, at.phase.task).text;
    return runWhole(at, { parts: { body: { text } }, execute: () => decide(at, text) });
  },
};

/** Of exactly the text that the person sees, at this place: a decision about another text is none about this one. */
function approvalDigest(path: string, text: string): string {
  return sha256Hex(canonicalEncode({ approval: path, text }));
}

interface Question {
  readonly text: string;
  readonly digest: string;
  /** Until when it has to be answered, where something is decided then. */
  readonly deadline: number | undefined;
}

async function decide(at: PhaseContext<ApprovalPhase>, secretText: string): Promise<Execution> {
  const { run } = at;
  const text = run.io.secrets.mask(secretText);
  const digest = approvalDigest(at.path, text);
  const earlier = run.reuse.prior.decision(at.path, digest);
  if (earlier) return decided({ decision: earlier.decision, note: earlier.note });
  if (at.signal.aborted) return failedBefore({ code: 'interrupted', message: 'interrupted before it was asked' });
  const question = { text, digest, deadline: deadlineOf(at, digest) };
  if (isOver(at, question)) return expire(at, question);
  const answer = await ask(at, question);
  // A person who is asked often edits something first.
  run.reuse.fingerprints.touched();
  run.reuse.prior.lookAgain();
  if (at.signal.aborted) {
    return failedBefore({ code: 'interrupted', message: 'interrupted while waiting for approval' });
  }
  if (answer.decision === 'pause') {
    if (isOver(at, question)) return expire(at, question);
    return pureResult({ text: '', json: null }, { status: 'paused', failure: waiting(at), attempts: 0 });
  }
  return record(at, question, answer);
}

/** The time runs from the first question about this text, whichever run asked it. */
function deadlineOf({ run, phase, path }: PhaseContext<ApprovalPhase>, digest: string): number | undefined {
  if (phase.timeoutMs === undefined || phase.onExpire === undefined) return undefined;
  return run.reuse.prior.asked(path, digest)?.deadline ?? run.options.project.clock.now() + phase.timeoutMs;
}

function isOver({ run }: PhaseContext, { deadline }: Question): boolean {
  return deadline !== undefined && run.options.project.clock.now() >= deadline;
}

/** `pause` where nobody can be asked now. */
async function ask(at: PhaseContext<ApprovalPhase>, { text, digest, deadline }: Question): Promise<ApprovalAnswer> {
  const { run, phase } = at;
  const now = run.options.project.clock.now();
  const onExpire = deadline === undefined ? undefined : phase.onExpire;
  run.io.journal.write({ type: 'ask', at: now, phase: at.path, text, digest, deadline, onExpire });
  run.io.journal.sync();
  run.io.emit({ type: 'approval', phase: at.path, text, digest });
  if (!run.options.approve) return { decision: 'pause' };
  const timeoutMs = deadline === undefined ? phase.timeoutMs : deadline - now;
  return run.options.approve({ phase: at.path, text, timeoutMs, signal: at.signal });
}

/** Nobody decided in time: what the flow says about that is decided. */
function expire(at: PhaseContext<ApprovalPhase>, question: Question): Execution {
  const { onExpire, timeoutMs = 0 } = at.phase;
  const note = `nobody decided within ${formatDuration(timeoutMs)}`;
  if (onExpire === 'approve' || onExpire === 'reject') {
    return record(at, question, { decision: onExpire, note, by: 'timeout' });
  }
  return failedBefore({ code: 'timeout', message: note, hint: 'Run again to be asked again.' });
}

function record(
  at: PhaseContext,
  { digest }: Question,
  { decision, note, by }: Exclude<ApprovalAnswer, { decision: 'pause' }> & { readonly by?: string },
): Execution {
  const {
    options,
    io: { journal },
  } = at.run;
  journal.write({ type: 'decision', at: options.project.clock.now(), phase: at.path, digest, decision, note, by });
  journal.sync();
  return decided({ decision, note });
}

function waiting(at: PhaseContext) {
  const { runId } = at.run;
  const word = shellWord(at.path);
  return {
    code: 'blocked',
    message: 'waiting for approval',
    hint: `taskflow approve ${runId} ${word}   or   taskflow reject ${runId} ${word}`,
  } as const;
}

function decided({ decision, note }: { decision: 'approve' | 'reject'; note?: string }): Execution {
  const json = { approved: decision === 'approve', note: note ?? '' };
  if (decision === 'approve') return pureResult({ text: note ?? 'approved', json }, { pure: true });
  return pureResult(
    { text: note ?? 'rejected', json },
    {
      status: 'blocked',
      failure: {
        code: 'rejected',
        message: note ? `rejected: ${note}` : 'rejected',
        hint: 'Run again to be asked again.',
      },
    },
  );
}
