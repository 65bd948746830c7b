import { devNull } from 'node:os';
import type { Failure } from '../../model/failure.js';
import type { RunContext } from '../context/context.js';
import { makeContext } from '../context/make-context.js';
import { isResult, linesToCarry } from '../continue/carry.js';
import { changedSinceRun } from '../continue/changed-since.js';
import { decideContinuation } from '../continue/continuation.js';
import { type Imported, importedCheckpoint } from '../continue/imported.js';
import { PriorResults } from '../continue/prior-results.js';
import type { RunOptions } from '../core/options.js';
import { clearedIn } from '../history/cleared-results.js';
import type { RunHead } from '../history/run-head.js';
import { journalOf, lastRunId } from '../history/runs-folder.js';
import type { JournalLine } from '../journal/lines.js';
import { readLines } from '../journal/reader.js';
import type { JournalWriter, LinePlace } from '../journal/writer.js';
import { scheduler } from '../schedule/scheduler.js';

/** What a dry run, of one flow or of a batch, goes through its phases with. */
export interface OpenForecast {
  readonly context: RunContext;
  readonly continues?: { readonly runId: string; readonly notice?: string };
  /** Grows while phases are looked at. */
  readonly warnings: readonly string[];
}

/** Like `openRun`, without a run: nothing is claimed, carried over or written. */
export async function openForecast(
  options: RunOptions,
  argsDigest: string,
  journal: JournalWriter,
): Promise<OpenForecast | { readonly refused: Failure }> {
  const { project, flow, source, batch } = options;
  const flowId = flow.file ?? source.ref;
  const decision = decideContinuation(options, flowId, argsDigest, undefined);
  if ('failure' in decision) return { refused: decision.failure };
  const imported = importedCheckpoint(options);
  if (imported && 'failure' in imported) return { refused: imported.failure };
  const prior = imported
    ? lookAt(imported)
    : decision.previous
      ? lookInto(options, decision.previous, decision.how)
      : new PriorResults('none', undefined, devNull);
  const warnings: string[] = [];
  const warn = (message: string) => {
    if (!warnings.includes(message)) warnings.push(message);
  };
  for (const note of imported?.notes ?? []) warn(note);
  const context = await makeContext({
    scheduler,
    options: { ...options, forecast: true },
    runId: '00000000-000000-000000',
    journal,
    prior,
    emit: (event) => {
      if (event.type === 'warning') warn(event.message);
    },
    warn,
    flowId,
    argsDigest,
    previousRun: lastRunId(project, flowId, batch ? argsDigest : undefined),
  });
  if ('refused' in context) return context;
  return {
    context,
    warnings,
    continues: prior.runId === undefined ? undefined : { runId: prior.runId, notice: decision.notice },
  };
}

/** Results of a checkpoint, which are in no journal of ours yet. */
function lookAt({ runId, run, lines }: Imported): PriorResults {
  const kept: JournalLine[] = [];
  const prior = new PriorResults('checkpoint', runId, ({ offset }) => kept[offset]);
  for (const line of linesToCarry(() => (run ? [run, ...lines] : lines), prior)) {
    if (isResult(line)) prior.keep(line, { offset: kept.push(line) - 1, length: 0 });
  }
  return prior;
}

/** Results of the run that would be continued, read where they are. */
function lookInto({ project, source }: RunOptions, previous: RunHead, how: 'auto' | 'resume'): PriorResults {
  const path = journalOf(project, previous.runId);
  const prior = new PriorResults(how, previous.runId, path, (runId) => changedSinceRun(project, runId, source.files));
  let place: LinePlace = { offset: 0, length: 0 };
  const isCleared = clearedIn(project, previous.runId);
  const lines = function* () {
    for (const { line, ...at } of readLines(path)) {
      if (isCleared(line)) continue;
      place = at;
      yield line;
    }
  };
  // As they would be carried over: each as it was made, and not as it was reused since.
  for (const line of linesToCarry(lines, prior)) if (isResult(line)) prior.keep(line, place);
  return prior;
}
