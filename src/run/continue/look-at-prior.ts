import type { RunOptions } from '../core/options.js';
import { clearedIn } from '../history/cleared-results.js';
import type { RunHead } from '../history/run-head.js';
import { journalOf } from '../history/runs-folder.js';
import type { JournalLine } from '../journal/lines.js';
import { readLines } from '../journal/reader.js';
import type { LinePlace } from '../journal/writer.js';
import { isResult, linesToCarry } from './carry.js';
import { type Around, changedSinceRun } from './changed-since.js';
import type { ImportedCheckpoint } from './imported.js';
import { PriorResults } from './prior-results.js';

/** Results of a checkpoint for a forecast, which has no journal to carry them into. */
export function lookAtCheckpoint({ runId, run, lines }: ImportedCheckpoint): PriorResults {
  const kept: JournalLine[] = [];
  const prior = new PriorResults({ how: 'checkpoint', runId, journal: ({ offset }) => kept[offset] });
  for (const line of linesToCarry(() => (run ? [run, ...lines] : lines), prior)) {
    if (isResult(line)) prior.keep(line, { offset: kept.push(line) - 1, length: 0 });
  }
  return prior;
}

/** Results of the run that would be continued, read from its own journal. */
export function lookAtRun({ project, source }: RunOptions, previous: RunHead, how: 'auto' | 'resume'): PriorResults {
  const { runId } = previous;
  const path = journalOf(project, runId);
  const changedSince = (since: string, around: Around) =>
    changedSinceRun(project, since, { flowFiles: source.files, around });
  const prior = new PriorResults({ how, runId, journal: path, changedSince });
  let place: LinePlace = { offset: 0, length: 0 };
  const isCleared = clearedIn(project, runId);
  const lines = function* () {
    for (const { line, ...at } of readLines(path)) {
      if (isCleared(line)) continue;
      place = at;
      yield line;
    }
  };
  // As a run would carry them: each as it was made, not as it was reused since.
  for (const line of linesToCarry(lines, prior)) if (isResult(line)) prior.keep(line, place);
  return prior;
}
