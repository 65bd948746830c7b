import type { RunEvent, RunStatus } from '../../model/event.js';
import type { Failure } from '../../model/failure.js';
import { spentOf } from '../core/result.js';
import { windDown } from '../execute/leftovers.js';
import { RunHooks } from '../hooks/run-hooks.js';
import { openRun, type RunRefused } from '../start/open-run.js';
import { type BatchOptions, runOptionsOf } from './options.js';
import type { BatchResult, RowResult } from './result.js';
import type { BatchRow } from './rows/bind-rows.js';
import { RowRunner } from './run-row.js';
import { Tally } from './tally.js';

/** Enough rows under way to keep all slots busy while some of them wait for what they share. */
const ROWS_PER_SLOT = 2;

/**
 * Runs a flow for each row, as one run: one journal, one concurrency, one budget, one store. What several rows have in
 * common is executed one time. Never throws; everything that can happen is in the result.
 */
export async function runBatch(
  options: BatchOptions,
  onEvent?: (event: RunEvent) => void,
): Promise<BatchResult | RunRefused> {
  const { rows, project } = options;
  const session = await openRun(runOptionsOf(options), { onEvent });
  if ('refused' in session) return session;
  const { context } = session;
  const hooks = new RunHooks({ ...options, warn: session.warn });
  hooks.start(context.runId);
  const tally = new Tally(rows.length);
  const runner = new RowRunner(context, options);
  const jobs = Math.max(1, options.jobs ?? context.limits.atOnce * ROWS_PER_SLOT);
  let next = 0;
  /** Each worker begins the next row when it has finished one: a row that has not begun costs nothing. */
  const work = async (): Promise<void> => {
    while (next < rows.length) {
      const row = rows[next++]!;
      const { closed } = context.limits.admission;
      const result = closed ? rowNotBegun(row, closed) : await runner.run(row);
      tally.add(result);
      options.onRow?.(result);
      if (options.failFast && isFailed(result)) context.limits.admission.close(stopAfter(result));
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, rows.length) }, work));
  await hooks.started;
  await windDown(context);
  const { closed } = context.limits.admission;
  const status = batchStatus(tally, closed, context.limits.signal.aborted);
  const failure = status === 'success' ? undefined : (tally.firstError ?? batchError(closed));
  session.end({ status, failure });
  await context.reuse.tidyStore();
  const result: BatchResult = {
    runId: context.runId,
    flow: options.flow.name,
    status,
    continues: session.continues?.runId,
    ...tally.counts,
    durationMs: Math.round(project.clock.elapsed() - session.startedAt),
    spent: spentOf(context.limits.ledger),
    saved: { ...context.limits.ledger.saved, ms: Math.round(context.limits.ledger.saved.ms) },
    rows: tally.rows,
    warnings: session.warnings,
    error: failure,
    outputOf: (row) => runner.outputOf(row),
  };
  await hooks.end(context.runId, status, () => result);
  return result;
}

export function isFailed({ status }: Pick<RowResult, 'status'>): boolean {
  return status === 'failed' || status === 'blocked';
}

function stopAfter({ label }: RowResult): Failure {
  return { code: 'interrupted', message: `--fail-fast: ${label} failed` };
}

function rowNotBegun({ row, line, label, publicArgs }: BatchRow, closed: Failure): RowResult {
  return {
    row,
    line,
    label,
    args: publicArgs,
    status: 'cancelled',
    spent: { usd: 0, tokens: 0 },
    saved: { usd: 0, tokens: 0, ms: 0 },
    durationMs: 0,
    reuse: { executed: 0, run: 0, crossRun: 0 },
    error: { phase: '', code: closed.code, message: `not started: ${closed.message}` },
  };
}

/** What stopped all of it goes before what went wrong in one row. */
function batchStatus(tally: Tally, closed: Failure | undefined, aborted: boolean): RunStatus {
  const { failed, paused, left } = tally.counts;
  if (aborted && left > 0) return 'interrupted';
  if (closed?.code === 'budget' && left > 0) return 'over-budget';
  if (failed > 0) return tally.blocked === failed ? 'blocked' : 'failed';
  if (left > 0) return 'interrupted';
  return paused > 0 ? 'paused' : 'success';
}

function batchError(closed: Failure | undefined): BatchResult['error'] {
  return closed && { phase: '', code: closed.code, message: closed.message, hint: closed.hint };
}
