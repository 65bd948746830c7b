import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Failure } from '../model/failure.js';
import type { Project } from '../util/project.js';
import type { AskLine } from './journal/lines.js';
import { readLines } from './journal/reader.js';
import { JournalWriter } from './journal/writer.js';
import { runHead } from './run-state.js';
import { isRunId, journalOf } from './runs-folder.js';
import { wentOn } from './succession.js';

export interface ApprovalDecision {
  readonly runId: string;
  readonly phase: string;
  readonly decision: 'approve' | 'reject';
  readonly note?: string;
}

/** Decides a waiting approval: about exactly the text that was shown, for the run that goes on from there. */
export function decideApproval(
  project: Project,
  { runId, phase, decision, note }: ApprovalDecision,
): { readonly asked: AskLine } | { readonly failure: Failure } {
  const head = isRunId(runId) ? runHead(project, runId) : undefined;
  if (!head) return bad(`there is no run ${runId}`, '`taskflow runs` lists them.');
  if (head.state === 'running') return bad(`run ${runId} is under way; it asks on its own terminal`);
  if (wentOn(project, runId)) {
    return bad(`run ${runId} has gone on already`, '`taskflow runs` shows what it went on as.');
  }
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
  const now = project.clock.now();
  if (asked.deadline !== undefined && now > asked.deadline)
    return bad(`the time to decide about ${phase} is over`, 'Resume the run to be asked again.');
  const path = journalOf(project, runId);
  const journal = new JournalWriter(path);
  if (!endsWithLine(path)) journal.endTornLine();
  journal.write({ type: 'decision', at: now, phase: asked.phase, digest: asked.digest, decision, note });
  journal.sync();
  journal.close();
  if (journal.broken !== undefined) return bad(`the decision cannot be written: ${journal.broken}`);
  return { asked };
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

/** Questions of a run that nobody has answered or used. */
export function waitingApprovals(project: Project, runId: string): AskLine[] {
  const waiting = new Map<string, AskLine>();
  for (const { line } of readLines(journalOf(project, runId))) {
    if (line.type === 'ask') waiting.set(line.phase, line);
    else if (line.type === 'phase' && line.status !== 'paused') waiting.delete(line.phase);
  }
  return [...waiting.values()];
}

function only<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined;
}

function bad(message: string, hint?: string): { failure: Failure } {
  return { failure: { code: 'bad-input', message, ...(hint === undefined ? {} : { hint }) } };
}
