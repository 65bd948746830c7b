import { join, resolve } from 'node:path';
import type { RunEvent } from '../../model/event.js';
import type { BatchOptions } from '../../run/batch/options.js';
import { batchJson } from '../../run/batch/out/batch-json.js';
import { BATCH_FILE, SUMMARY_FILE } from '../../run/batch/out/file-names.js';
import { OutFolder } from '../../run/batch/out/out-folder.js';
import { summaryText } from '../../run/batch/out/summary.js';
import type { BatchResult } from '../../run/batch/result.js';
import { runBatch } from '../../run/batch/run-batch.js';
import type { Invocation } from '../boot/command.js';
import { EXIT } from '../errors/exit-status.js';
import { complain } from '../errors/problem.js';
import { askers, reportProblem } from '../run/execute.js';
import { listenForInterrupts } from '../run/interrupt.js';
import { sendTrace, wantsTrace } from '../run/otel.js';
import { exitStatusOf } from '../run/run-status.js';
import { wantsReports } from '../run/show-run.js';
import { TIDIER } from '../run/tidier.js';
import { interruptLine, openWorkers } from '../run/workers.js';
import { LineBuffer } from '../terminal/line-buffer.js';
import { eventLine } from '../text/event-line.js';
import { createBatchView } from './batch-view.js';
import { writeBatchJson } from './write-json.js';

/** Runs a batch for a person or a program: shows it, asks, listens for Ctrl-C, writes files, prints the result. */
export async function executeBatch(
  invocation: Invocation,
  options: Omit<BatchOptions, 'signal' | 'approve' | 'decideEffect' | 'keepOutputs' | 'onOutput' | 'onRow'>,
  /** Warnings about the rows, reported before anything ran. */
  warnings: readonly string[],
): Promise<number> {
  const { flags, out, err, project, cwd } = invocation;
  const { rows, over, flow } = options;
  const problem = await reportProblem(invocation);
  if (problem !== undefined) return complain(invocation, problem);
  const outDir = flags.string('out');
  const troubles = new Set<string>();
  const folder =
    outDir === undefined
      ? undefined
      : OutFolder.open(resolve(cwd, outDir), { project, flow, rows, onTrouble: (message) => troubles.add(message) });
  if (folder && 'problem' in folder) return complain(invocation, folder.problem);
  const view = createBatchView({ out: err, clock: project.clock, quiet: flags.boolean('quiet') });
  const events = flags.boolean('events') ? new LineBuffer(out) : undefined;
  const workers = await openWorkers(invocation, options);
  if ('problem' in workers) {
    view.stop(undefined);
    return complain(invocation, workers.problem, workers.hint);
  }
  for (const notice of workers.notices ?? []) view.notice(`warning: ${notice}`);
  const interrupt = listenForInterrupts((line) => view.notice(interruptLine(invocation, line)));
  const asks = await askers(invocation, view, (phase) => view.nameOf(phase));
  const ended = await runBatch(
    {
      ...options,
      signal: interrupt.signal,
      tidier: TIDIER,
      workers: workers.sender,
      keepOutputs: flags.boolean('json'),
      progress: events ? 'all' : 'none',
      ...asks,
      ...(folder && {
        onOutput: (row, output) => {
          const name = folder.write(row, output);
          return name === undefined ? undefined : join(outDir!, name);
        },
      }),
    },
    (event: RunEvent) => {
      events?.add(eventLine(event));
      view.onEvent(event);
    },
  );
  interrupt.dispose();
  await workers.sender?.close();
  events?.flush();
  if ('refused' in ended) {
    view.stop(undefined);
    return complain(invocation, ended.refused.message, ended.refused.hint);
  }
  const result = { ...ended, warnings: [...warnings, ...ended.warnings] };
  if (folder) writeReports(folder, result, { over, at: project.clock.now() });
  view.stop(result, folder && join(outDir!, SUMMARY_FILE));
  for (const trouble of troubles) err.write(`taskflow batch: ${trouble}\n`);
  if (flags.boolean('json')) writeBatchJson(out, result);
  const reported =
    !wantsReports(invocation) || (await import('../run/reports.js')).writeBatchReports(invocation, over, result);
  if (wantsTrace(invocation)) await sendTrace(invocation, result.runId);
  const status = exitStatusOf(result);
  return troubles.size > 0 || !reported ? status || EXIT.failed : status;
}

function writeReports(folder: OutFolder, result: BatchResult, facts: Parameters<typeof summaryText>[1]): void {
  folder.put(BATCH_FILE, Buffer.from(batchJson(result, facts.over)));
  folder.put(SUMMARY_FILE, Buffer.from(summaryText(result, facts)));
}
