import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Failure } from '../../model/failure.js';
import type { Project } from '../../util/project.js';
import type { AskLine, DecisionLine } from '../journal/lines.js';
import { readLines } from '../journal/reader.js';
import { JournalWriter } from '../journal/writer.js';
import { runHead } from './run-head.js';
import { isRunId, journalOf } from './runs-folder.js';
import { continuedBy } from './succession.js';

interface ApprovalDecision extends Pick<DecisionLine, 'phase' | 'decision' | 'note' | 'by'> {
  readonly runId: string;
  /** Of the text that the person has read: another text is not decided about. */
  readonly digest?: string;
}

/** A question of a run that has not gone on; and what was decided about it, if somebody did. */
export interface WaitingApproval extends AskLine {
  readonly decided?: DecisionLine;
}

export interface Decided {
  readonly asked: AskLine;
  /** What holds from now on. */
  readonly decision: DecisionLine;
  /** The decision before, if any: the same one, and then nothing was written, or one that no longer holds. */
  readonly earlier?: DecisionLine;
  readonly repeated: boolean;
}

/**
 * Decides a waiting approval, about exactly the text that was shown, for the run that continues. The last decision
 * before that run holds: a person must be able to correct a slip.
 */
export function decideApproval(
  project: Project,
  { runId, phase, decision, note, by, digest }: ApprovalDecision,
): Decided | { readonly failure: Failure } {
  const head = isRunId(runId) ? runHead(project, runId) : undefined;
  if (!head) return bad(`there is no run ${runId}`, '`taskflow runs` lists them.');
  if (head.state === 'running') return bad(`run ${runId} is under way; it asks on its own terminal`);
  const heir = continuedBy(project, runId);
  if (heir !== undefined) return bad(`run ${runId} has gone on already`, `It went on as run ${heir}.`);
  const waiting = waitingApprovals(project, runId);
  const asked =
    waiting.find((line) => line.phase === phase) ?? only(waiting.filter((line) => line.phase.endsWith(`/${phase}`)));
  if (!asked) {
    const names = waiting.map((line) => line.phase).join(', ');
    return bad(
      `${phase} of run ${runId} is not waiting for approval`,
      names === '' ? 'Nothing in that run is.' : `Waiting: ${names}`,
    );
  }
  if (digest !== undefined && digest !== asked.digest) {
    return bad(`${phase} of run ${runId} asks something else by now`, 'Read what it asks, then decide.');
  }
  const now = project.clock.now();
  if (asked.deadline !== undefined && now > asked.deadline) {
    const then = asked.onExpire === undefined ? '' : ` (onExpire: ${asked.onExpire})`;
    return bad(`the time to decide about ${phase} is over${then}`, `Go on with it: taskflow resume ${runId}`);
  }
  const earlier = asked.decided;
  if (earlier?.decision === decision && (earlier.note ?? '') === (note ?? '')) {
    return { asked, decision: earlier, earlier, repeated: true };
  }
  const line: DecisionLine = {
    type: 'decision',
    at: now,
    phase: asked.phase,
    digest: asked.digest,
    decision,
    note,
    by,
  };
  const broken = append(journalOf(project, runId), line);
  if (broken !== undefined) return bad(`the decision cannot be written: ${broken}`);
  return { asked, decision: line, ...(earlier ? { earlier } : {}), repeated: false };
}

/** Why it could not be written; undefined once it is on the disk. */
function append(path: string, line: DecisionLine): string | undefined {
  const journal = new JournalWriter(path);
  if (!endsWithLine(path)) journal.endTornLine();
  journal.write(line);
  journal.sync();
  journal.close();
  return journal.broken;
}

/** A line that a crash cut short would swallow the one that is put after it. */
function endsWithLine(path: string): boolean {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    return size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === 10);
  } finally {
    closeSync(fd);
  }
}

/** Questions of a run whose answers nobody has used. */
export function waitingApprovals(project: Project, runId: string): WaitingApproval[] {
  const waiting = new Map<string, WaitingApproval>();
  for (const { line } of readLines(journalOf(project, runId))) {
    if (line.type === 'ask') waiting.set(line.phase, line);
    else if (line.type === 'phase' && line.status !== 'paused') waiting.delete(line.phase);
    else if (line.type === 'decision') {
      const asked = waiting.get(line.phase);
      if (asked?.digest === line.digest) waiting.set(line.phase, { ...asked, decided: line });
    }
  }
  return [...waiting.values()];
}

function only<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined;
}

function bad(message: string, hint?: string): { failure: Failure } {
  return { failure: { code: 'bad-input', message, ...(hint === undefined ? {} : { hint }) } };
}
