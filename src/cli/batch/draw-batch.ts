import { formatDuration } from '../../util/duration.js';
import { formatMoney, formatSpent, grouped } from '../../util/format.js';
import { displayWidth, oneLine, padEnd, truncate } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import { type BatchState, timeLeft } from './batch-state.js';

export interface DrawOptions {
  readonly style: Style;
  readonly columns: number;
  readonly rows: number;
  readonly now: number;
  readonly tick: number;
}

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const MOST_ACTIVE = 8;

/** The picture of a batch: one bar with its figures, and the rows that have been under way for the longest time. */
export function drawBatch(state: BatchState, options: DrawOptions): string[] {
  const { style, columns, rows, now, tick } = options;
  const width = Math.max(10, columns - 1);
  const lines = [
    barLine(state, style, width, now),
    truncate(`  ${figures(state, style, now).join(style.dim(' · '))}`, width),
  ];
  const room = Math.max(0, Math.min(MOST_ACTIVE, rows - lines.length - 1));
  const shown = [...state.active.values()].slice(0, room);
  const labelWidth = Math.min(36, Math.max(8, ...shown.map(({ label }) => displayWidth(label))));
  for (const { label, phase, startedAt } of shown) {
    const name = padEnd(truncate(oneLine(label), labelWidth), labelWidth);
    const facts = [formatDuration(Math.max(0, now - startedAt)), ...(phase === undefined ? [] : [phase])];
    lines.push(
      truncate(`  ${style.cyan(SPINNER[tick % SPINNER.length]!)} ${name}  ${facts.join(style.dim(' · '))}`, width),
    );
  }
  const hidden = state.active.size - shown.length;
  if (hidden > 0 && room > 0) lines.push(truncate(style.dim(`    … ${hidden} more under way`), width));
  return lines;
}

function barLine(state: BatchState, style: Style, width: number, now: number): string {
  const head = `${style.bold(oneLine(state.flow))} `;
  const left = timeLeft(state, now);
  const tail = ` ${grouped(state.ended)} of ${grouped(state.total)}${left === undefined ? '' : ` · ${formatDuration(left)} left`}`;
  const cells = Math.max(5, Math.min(40, width - displayWidth(head) - displayWidth(tail)));
  const share = state.total === 0 ? 1 : state.ended / state.total;
  const full = Math.floor(share * cells);
  const bad = state.failed === 0 ? 0 : Math.max(1, Math.round((state.failed / Math.max(1, state.total)) * cells));
  const good = Math.max(0, full - bad);
  const bar = `${style.green('█'.repeat(good))}${style.red('█'.repeat(Math.min(bad, cells)))}`;
  const empty = Math.max(0, cells - good - Math.min(bad, cells));
  return truncate(`${head}${bar}${style.dim('░'.repeat(empty))}${tail}`, width);
}

/** `1,204 done · 3 failed · 900 reused · spent $1.20 · saved $12.30 · 2m 5s`. */
export function figures(state: BatchState, style: Style, now: number): string[] {
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
  return parts;
}
