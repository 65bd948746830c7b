import type { ApprovalPhase } from '../../model/flow.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
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
export function approvalDigest(path: string, text: string): string {
  return sha256Hex(canonicalEncode({ approval: path, text }));
}

async function decide(at: PhaseContext<ApprovalPhase>, secretText: string): Promise<Execution> {
  const { run, phase } = at;
  const now = () => run.options.project.clock.now();
  const text = run.secrets.mask(secretText);
  const digest = approvalDigest(at.path, text);
  const earlier = run.prior.decision(at.path, digest);
  if (earlier) return decided({ decision: earlier.decision, note: earlier.note });
  const deadline = phase.timeoutMs === undefined ? undefined : now() + phase.timeoutMs;
  run.journal.write({ type: 'ask', at: now(), phase: at.path, text, digest, deadline });
  run.journal.sync();
  run.emit({ type: 'approval', phase: at.path, text, digest });
  const request = { phase: at.path, text, timeoutMs: phase.timeoutMs, signal: at.signal };
  const answer: ApprovalAnswer = run.options.approve ? await run.options.approve(request) : { decision: 'pause' };
  // A person who is asked often edits something first.
  run.fingerprints.touched();
  run.prior.lookAgain();
  if (at.signal.aborted)
    return failedBefore({ code: 'interrupted', message: 'interrupted while waiting for approval' });
  if (answer.decision === 'pause') {
    if (deadline !== undefined && now() >= deadline) {
      return failedBefore({ code: 'timeout', message: 'nobody decided in time', hint: 'Run again to be asked again.' });
    }
    return pureResult({ text: '', json: null }, { status: 'paused', failure: waiting(at), attempts: 0 });
  }
  run.journal.write({
    type: 'decision',
    at: now(),
    phase: at.path,
    digest,
    decision: answer.decision,
    note: answer.note,
  });
  run.journal.sync();
  return decided(answer);
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
