import { formatDuration } from '../../util/duration.js';
import { formatMoney, formatSpent, grouped } from '../../util/format.js';
import { displayWidth, oneLine, padEnd, truncate } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import { waitingText } from '../text/limit-text.js';
import type { DrawOptions } from '../view/draw.js';
import { spinner } from '../view/spinner.js';
import { type BatchState, type RowEnd, timeLeft } from './batch-state.js';
import { rowError } from './row-line.js';

/** A line under the bar: a mark, the label, and facts about the row. */
interface RowPicture {
  readonly mark: string;
  readonly label: string;
  readonly facts: string;
}

/**
 * The picture of a batch: one bar with its numbers, the rows that failed, those under way for the longest time, and,
 * where there is room, those that ended last.
 */
export function drawBatch(state: BatchState, options: DrawOptions): string[] {
  const { style, columns, rows } = options;
  const width = Math.max(10, columns - 1);
  const head = [
    barLine(state, options, width),
    truncate(`  ${countFacts(state, options).join(style.dim(' · '))}`, width),
  ].slice(0, rows);
  const room = Math.max(0, rows - head.length);
  // Rows that failed leave at least two thirds to the others.
  const failed = state.failures.slice(-Math.max(1, Math.floor(room / 3))).slice(0, room);
  const left = room - failed.length;
  const active = [...state.active.values()];
  const shown = active.slice(0, active.length > left ? Math.max(0, left - 1) : left);
  const hidden = active.length - shown.length;
  const pictures = [
    ...failed.map((row) => failedPicture(row, style)),
    ...shown.map(({ label, phase, startedAt }) => ({
      mark: style.cyan(spinner(options.tick)),
      label,
      facts: [formatDuration(Math.max(0, options.now - startedAt)), ...(phase === undefined ? [] : [phase])].join(
        style.dim(' · '),
      ),
    })),
    ...state.recent.slice(0, left - shown.length - Math.min(1, hidden)).map((row) => endedPicture(row, style)),
  ];
  const lines = rowLines(pictures, width);
  const more = truncate(style.dim(`    … ${grouped(hidden)} more under way`), width);
  return hidden > 0 && left > 0 ? [...head, ...lines, more] : [...head, ...lines];
}

function failedPicture(row: RowEnd, style: Style): RowPicture {
  return { mark: style.red('✖'), label: row.label, facts: style.red(rowError(row)) };
}

/** Has its time in the same column as the rows under way. */
function endedPicture({ label, durationMs, spent, file }: RowEnd, style: Style): RowPicture {
  const facts = [formatDuration(durationMs)];
  if (spent.usd !== null ? spent.usd > 0 : spent.tokens > 0) facts.push(formatSpent(spent));
  const where = file === undefined ? '' : ` → ${file}`;
  return { mark: style.green('✔'), label, facts: style.dim(`${facts.join(' · ')}${where}`) };
}

/** All labels in one column, as wide as they need it and the rest of the line allows. */
function rowLines(pictures: readonly RowPicture[], width: number): string[] {
  const widest = Math.max(8, ...pictures.map(({ label }) => displayWidth(oneLine(label))));
  const cells = Math.min(widest, Math.max(8, Math.floor(width * 0.5)));
  return pictures.map(({ mark, label, facts }) =>
    truncate(`  ${mark} ${padEnd(truncate(oneLine(label), cells), cells)}  ${facts}`.trimEnd(), width),
  );
}

function barLine(state: BatchState, { style, now }: DrawOptions, width: number): string {
  const head = `${style.bold(oneLine(state.flow))} `;
  const left = timeLeft(state, now);
  const time = left === undefined ? '' : ` · ${formatDuration(left)} left`;
  const tail = ` ${grouped(state.ended)} of ${grouped(state.total)}${time}`;
  const cells = Math.max(5, width - displayWidth(head) - displayWidth(tail));
  const share = state.total === 0 ? 1 : state.ended / state.total;
  const full = Math.floor(share * cells);
  const bad = state.failed === 0 ? 0 : Math.max(1, Math.round((state.failed / Math.max(1, state.total)) * cells));
  const good = Math.max(0, full - bad);
  const bar = `${style.green('█'.repeat(good))}${style.red('█'.repeat(Math.min(bad, cells)))}`;
  const empty = Math.max(0, cells - good - Math.min(bad, cells));
  return truncate(`${head}${bar}${style.dim('░'.repeat(empty))}${tail}`, width);
}

/** `1,204 done · 3 failed · 900 reused · spent $1.20 · saved $12.30 · 2m 5s`. */
function countFacts(state: BatchState, { style, now }: DrawOptions): string[] {
  const parts = [`${grouped(state.done)} done`];
  if (state.failed > 0) parts.push(style.red(`${grouped(state.failed)} failed`));
  if (state.paused > 0) parts.push(style.yellow(`${grouped(state.paused)} waiting`));
  if (state.reused > 0) parts.push(`${grouped(state.reused)} reused`);
  const isUnpriced = state.spent.usd === null && state.spent.tokens === 0;
  if (isUnpriced) parts.push('price unknown');
  else if (state.spent.usd !== 0 || state.spent.tokens > 0) parts.push(`spent ${formatSpent(state.spent)}`);
  const { usd, ms } = state.saved;
  if (usd !== null && usd > 0) parts.push(`saved ${formatMoney(usd)}`);
  else if (ms >= 1) parts.push(`saved ${formatDuration(ms)}`);
  parts.push(formatDuration(Math.max(0, now - state.startedAt)));
  if (state.limit?.waits && state.limit.until > now) parts.push(style.yellow(waitingText(state.limit, now)));
  return parts;
}
