import type { ChildIdentity } from '../process/process.js';
import type { Project } from '../util/project.js';
import { changedSince } from './changed-since.js';
import type { JournalLine } from './journal/lines.js';
import { readLines } from './journal/reader.js';
import type { JournalWriter } from './journal/writer.js';
import { PriorResults } from './prior-results.js';
import type { RunHead } from './run-state.js';
import { journalOf } from './runs-folder.js';

/**
 * Copies into a new journal what it needs of the run that it continues, so that each journal is complete in itself and
 * the old one is never changed. Processes that the old run left behind are ended first.
 */
export async function carryOver(
  project: Project,
  previous: RunHead,
  how: 'auto' | 'resume',
  journal: JournalWriter,
): Promise<PriorResults> {
  const path = journalOf(project, previous.runId);
  const flowFile = previous.run.file;
  const prior = new PriorResults(how, previous.runId, journal.path, () =>
    changedSince(project, previous.endedAt, flowFile === undefined ? [] : [flowFile]),
  );
  const children: ChildIdentity[] = [];
  const at = project.clock.now();
  journal.write({ type: 'carried-begin', at, from: previous.runId }, { hold: true });
  for (const { line } of readLines(path)) {
    if (line.type === 'child') children.push({ pid: line.pid, startTicks: line.startTicks, mark: line.mark });
    carry(line, prior, journal);
  }
  journal.write({ type: 'carried-end', at, from: previous.runId });
  if (previous.state !== 'crashed' || children.length === 0) return prior;
  const { endSurvivors } = await import('../process/end-tree.js');
  await endSurvivors(children, previous.run.owner);
  return prior;
}

export function carry(line: JournalLine, prior: PriorResults, journal: JournalWriter): void {
  if (!mayBeCarried(line)) {
    prior.learn({ line, offset: 0, length: 0 });
    return;
  }
  const place = journal.write(line, { hold: true });
  prior.learn({ line, ...place });
}

/** Results, decisions and side effects that were begun; the rest is history of the old run. */
export function mayBeCarried(line: JournalLine): boolean {
  switch (line.type) {
    case 'start':
      return !line.idempotent;
    case 'unit':
    case 'phase':
      return line.status === 'done' || line.failure?.code === 'in-doubt';
    case 'decision':
      return true;
    default:
      return false;
  }
}

/** The same from a checkpoint, which may come from another machine: there is nothing to end and nothing to compare with. */
export function carryLines(
  runId: string,
  lines: readonly JournalLine[],
  journal: JournalWriter,
  at: number,
): PriorResults {
  const prior = new PriorResults('checkpoint', runId, journal.path);
  journal.write({ type: 'carried-begin', at, from: runId }, { hold: true });
  for (const line of lines) carry(line, prior, journal);
  journal.write({ type: 'carried-end', at, from: runId });
  return prior;
}
