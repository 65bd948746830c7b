import { spentOn } from '../../model/outcome.js';
import type { BatchResult } from '../../run/batch/result.js';
import type { PhaseResult, RunResult } from '../../run/core/result.js';
import { formatDuration } from '../../util/duration.js';
import { formatBill, plural } from '../../util/format.js';
import { markdownFence, markdownText } from '../../util/markdown-text.js';
import { type ReportedFlow, toleratedPhases } from '../run-report.js';
import { costText, reuseText, savedText } from '../words.js';

/** A summary may have 1 MiB, but nobody reads a table that long. */
const MOST_ROWS = 500;

const MARKS = {
  done: '✅',
  failed: '❌',
  blocked: '⛔',
  paused: '⏸️',
  skipped: '⏭️',
  cancelled: '⏹️',
} as const satisfies Record<PhaseResult['status'], string>;

/** A run on the page of its job: what ran and why, what was reused and how old it is, what that cost and saved. */
export function runSummary(result: RunResult, reported: ReportedFlow): string {
  const { reuse, phases } = result;
  const tolerated = toleratedPhases(result, reported);
  const head = [
    `${reuse.executed} executed`,
    `${reuse.run + reuse.crossRun} reused`,
    ...[formatBill(result.spent, result.saved)].filter(Boolean),
    formatDuration(result.durationMs),
  ];
  return document([
    `### ${statusMark(result.status)} ${markdownText(result.flow)}: ${result.status}`,
    '',
    head.join(' · '),
    '',
    '| phase | status | reuse | cost | saved | time | why |',
    '|---|---|---|--:|--:|--:|---|',
    ...phases.slice(0, MOST_ROWS).map((phase) => phaseRow(phase, tolerated.has(phase.id))),
    ...rest(phases.length, 'phase'),
    ...failure(result.error),
  ]);
}

function phaseRow(phase: PhaseResult, isTolerated: boolean): string {
  const { usage, items } = phase;
  const cost = phase.cacheHit ? '' : costText(spentOn(usage));
  const counted = items ? ` (${items.executed} of ${items.total} executed)` : '';
  return row([
    `\`${phase.id.replaceAll(/[`|\s]/g, ' ')}\``,
    isTolerated ? `⚠️ ${phase.status} (optional)` : `${MARKS[phase.status]} ${phase.status}`,
    reuseText(phase),
    cost,
    savedText(phase.saved),
    phase.cacheHit ? '' : formatDuration(phase.durationMs),
    markdownText(`${phase.error?.message ?? phase.reason}${counted}`),
  ]);
}

export function batchSummary(result: BatchResult, over: string): string {
  const { rows, failed, paused, left } = result;
  const counts = [`${result.done} of ${plural(result.total, 'row')} done`];
  if (result.reused > 0) counts.push(`${result.reused} all reused`);
  if (failed > 0) counts.push(`${failed} failed`);
  if (paused > 0) counts.push(`${paused} waiting`);
  if (left > 0) counts.push(`${left} not run`);
  counts.push(...[formatBill(result.spent, result.saved)].filter(Boolean));
  // Failures first, because the table may be cut.
  const shown = [...rows].sort((a, b) => Number(a.status === 'success') - Number(b.status === 'success'));
  return document([
    `### ${statusMark(result.status)} ${markdownText(result.flow)} over ${markdownText(over)}: ${result.status}`,
    '',
    counts.join(' · '),
    '',
    '| # | topic | status | executed | reused | cost | saved | time | why |',
    '|--:|---|---|--:|--:|--:|--:|--:|---|',
    ...shown
      .slice(0, MOST_ROWS)
      .map((found) =>
        row([
          String(found.row),
          markdownText(found.label),
          found.status === 'success' ? '✅ done' : `${statusMark(found.status)} ${found.status}`,
          String(found.reuse.executed),
          String(found.reuse.run + found.reuse.crossRun),
          costText(found.spent),
          savedText(found.saved),
          formatDuration(found.durationMs),
          markdownText(found.error ? `${found.error.phase}: ${found.error.message}` : ''),
        ]),
      ),
    ...rest(rows.length, 'row'),
  ]);
}

function statusMark(status: string): string {
  if (status === 'success') return '✅';
  if (status === 'paused') return '⏸️';
  return status === 'blocked' ? '⛔' : '❌';
}

function failure(error: RunResult['error']): string[] {
  if (!error) return [];
  const detail = [error.message, error.detail, error.hint].filter(Boolean).join('\n').slice(0, 10_000);
  return ['', `**${markdownText(error.phase || 'the run')}**`, '', ...markdownFence(detail)];
}

function rest(length: number, what: string): string[] {
  return length > MOST_ROWS ? ['', `… and ${plural(length - MOST_ROWS, `more ${what}`)}.`] : [];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function document(lines: readonly string[]): string {
  return `${lines.join('\n')}\n\n`;
}
