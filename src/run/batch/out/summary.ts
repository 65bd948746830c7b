import { basename } from 'node:path';
import { formatDuration } from '../../../util/duration.js';
import { formatMoney, formatSpent, plural } from '../../../util/format.js';
import { markdownText } from '../../../util/markdown-text.js';
import type { BatchResult, RowResult } from '../result.js';

const MOST_ROWS = 2_000;

/** What a person opens first: how it went, then what needs a look, then everything. Markdown. */
export function summaryText(result: BatchResult, { over, at }: { readonly over: string; readonly at: number }): string {
  const { total, done, failed, paused, left, underWay, reused } = result;
  const counts = [`${done} of ${plural(total, 'row')} done`];
  if (reused > 0) counts.push(`${reused} of them without executing anything`);
  if (failed > 0) counts.push(`${failed} failed`);
  if (paused > 0) counts.push(`${paused} waiting`);
  if (underWay > 0) counts.push(`${underWay} under way when it stopped`);
  if (left > underWay) counts.push(`${left - underWay} not run`);
  const bad = result.rows.filter(({ status }) => status === 'failed' || status === 'blocked' || status === 'paused');
  return `${[
    `# ${markdownText(result.flow)} over ${markdownText(over)}`,
    '',
    `${result.status === 'interrupted' ? 'Interrupted: ' : ''}${counts.join(', ')}.`,
    `Spent ${formatSpent(result.spent)}, saved ${saved(result.saved)}, ${formatDuration(result.durationMs)}.`,
    `Run \`${result.runId}\`, ${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC.`,
    ...(bad.length === 0 ? [] : ['', '## To look at', '', ...bad.slice(0, MOST_ROWS).map(complaint)]),
    '',
    '## Rows',
    '',
    '| # | topic | status | executed | reused | cost | saved | time | file |',
    '|--:|---|---|--:|--:|--:|--:|--:|---|',
    ...result.rows.slice(0, MOST_ROWS).map(tableRow),
    ...(result.rows.length > MOST_ROWS
      ? ['', `… and ${plural(result.rows.length - MOST_ROWS, 'more row')}: see batch.json.`]
      : []),
  ].join('\n')}\n`;
}

function complaint({ row, label, status, error }: RowResult): string {
  const why = error ? `: ${error.phase === '' ? '' : `\`${error.phase}\` `}${markdownText(error.message, 300)}` : '';
  return `- ${row}. ${markdownText(label, 80)} ${status}${why}`;
}

function tableRow(row: RowResult): string {
  const { reuse } = row;
  const file = row.file === undefined ? undefined : basename(row.file);
  const cells = [
    row.row,
    markdownText(row.label, 80),
    row.status === 'success' ? 'done' : row.status,
    reuse.executed,
    reuse.run + reuse.crossRun,
    formatSpent(row.spent),
    saved(row.saved),
    formatDuration(row.durationMs),
    file === undefined
      ? ''
      : `[${markdownText(file)}](${encodeURI(file).replaceAll('(', '%28').replaceAll(')', '%29')})`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function saved({ usd, ms }: BatchResult['saved']): string {
  if (usd !== null && usd > 0) return formatMoney(usd);
  return ms > 0 ? formatDuration(ms) : '–';
}
