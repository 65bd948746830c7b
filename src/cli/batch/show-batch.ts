import { resumeCommand } from '../../run/batch/row-flags.js';
import { waitingApprovals } from '../../run/history/decide-approval.js';
import { runJson } from '../../run/history/run-head.js';
import { continuedBy } from '../../run/history/succession.js';
import type { RunTrace } from '../../run/history/trace.js';
import type { RowLine } from '../../run/journal/lines.js';
import { formatAgo, formatDuration } from '../../util/duration.js';
import { grouped, plural } from '../../util/format.js';
import { oneLine, truncate } from '../../util/terminal-text.js';
import type { Invocation } from '../boot/command.js';
import { questionLines } from '../run/decision-text.js';
import { createStyle } from '../terminal/style.js';
import { stateText } from '../text/run-facts.js';
import { alignColumns } from '../text/table.js';
import { RowNames } from './row-names.js';

/** A batch from its journal, for programs. */
export function batchOf({ head, rows }: RunTrace) {
  return {
    ...runJson(head),
    over: head.run.over ?? null,
    ...countRows(head, rows),
    rows: inOrder(rows).map(({ row, label, args, path, status, durationMs, reuse, saved, file, failure }) => {
      return { row, label, args, path, status, durationMs, reuse, saved, file, error: failure };
    }),
  };
}

/** Sorts rows, which the journal has in the order in which they ended. */
function inOrder(rows: readonly RowLine[]): RowLine[] {
  return [...rows].sort((a, b) => a.row - b.row);
}

const MOST = 200;

/** How a batch went, row by row, those with problems first; and what to type next. */
export function showBatch({ out, project }: Invocation, trace: RunTrace): void {
  const { head, rows } = trace;
  const style = createStyle(out.color);
  const { run } = head;
  const facts = [
    `${style.bold(run.flow)} over ${run.over ?? '?'} ${stateText(head.state, style)}`,
    formatAgo(project.clock.now() - run.at),
    `took ${formatDuration(runJson(head).durationMs)}`,
  ];
  const counts = countsText(countRows(head, rows), head.state === 'running');
  const where = style.dim(`batch ${run.runId}${run.file ? `, ${run.file}` : ''}`);
  out.write(`${facts.join(style.dim(' · '))}\n${counts}\n${where}\n`);
  const shown = [...rows].sort((a, b) => rank(a) - rank(b) || a.row - b.row).slice(0, MOST);
  const table = alignColumns(shown.map((row) => columns(row)));
  out.write(out.isTerminal ? table.replaceAll(/.+/g, (line) => truncate(line, out.columns)) : table);
  if (rows.length > MOST) out.write(`… ${plural(rows.length - MOST, 'more row')}\n`);
  const heir = continuedBy(project, run.runId);
  if (heir !== undefined) {
    out.write(`${style.dim('→')} it went on as run ${heir}\n`);
    return;
  }
  const names = new RowNames(rows);
  const waiting = (head.state === 'running' ? [] : waitingApprovals(project, run.runId)).map((asked) => ({
    ...asked,
    phase: names.short(asked.phase),
  }));
  for (const line of questionLines(waiting, run.runId, { style, now: project.clock.now() })) out.write(`${line}\n`);
  if (head.state !== 'success' && head.state !== 'running') {
    out.write(`${style.dim('→')} ${resumeCommand(run)}    goes on with it\n`);
  }
}

/** A row is written to the journal when it ends; the journal's first line says how many there are. */
function countRows({ run }: RunTrace['head'], rows: readonly RowLine[]) {
  const count = (...statuses: RowLine['status'][]) => rows.filter(({ status }) => statuses.includes(status)).length;
  const total = Math.max(run.rows ?? 0, rows.length);
  return {
    total,
    done: count('success'),
    failed: count('failed', 'blocked'),
    paused: count('paused'),
    underWay: count('interrupted', 'over-budget'),
    left: total - rows.length,
  };
}

/** `14 of 60 rows done, 2 failed, 16 were under way, 28 not run`. */
function countsText(counts: ReturnType<typeof countRows>, isRunning: boolean): string {
  const { total, done, failed, paused, underWay, left } = counts;
  const parts = [`${grouped(done)} of ${plural(total, 'row')} done${isRunning ? ' so far' : ''}`];
  if (failed > 0) parts.push(`${grouped(failed)} failed`);
  if (paused > 0) parts.push(`${grouped(paused)} waiting`);
  if (underWay > 0) parts.push(`${grouped(underWay)} under way`);
  if (left > 0) parts.push(`${grouped(left)} ${isRunning ? 'to come' : 'not run'}`);
  return parts.join(', ');
}

function rank({ status }: RowLine): number {
  return status === 'success' ? 2 : status === 'paused' ? 1 : 0;
}

function columns({ row, label, status, reuse, durationMs, file, failure }: RowLine): string[] {
  const why = failure && status !== 'success' ? `${failure.phase}: ${oneLine(failure.message)}` : (file ?? '');
  const counts = `${reuse.executed} executed, ${reuse.run + reuse.crossRun} reused`;
  return [
    String(row),
    truncate(oneLine(label), 50),
    status === 'success' ? 'done' : status,
    counts,
    formatDuration(durationMs),
    why,
  ];
}
