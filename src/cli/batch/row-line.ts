import type { RunEvent } from '../../model/event.js';
import { formatDuration } from '../../util/duration.js';
import { formatSaved, formatSpent, grouped } from '../../util/format.js';
import { oneLine, truncate } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';

type RowEnd = Extract<RunEvent, { readonly type: 'row-end' }>;

const GLYPHS = { success: '✔', failed: '✖', blocked: '■', paused: '‖', 'over-budget': '–', interrupted: '–' } as const;

/** `✔ sea level  2 executed, 1 reused · $0.01 · 2.1s → results/sea-level.md`. */
export function rowLine(event: RowEnd, style: Style): string {
  const { status, reuse, spent, error } = event;
  const color = status === 'success' ? style.green : status === 'paused' ? style.yellow : style.red;
  const reused = reuse.run + reuse.crossRun;
  const facts = [`${reuse.executed} executed${reused > 0 ? `, ${reused} reused` : ''}`];
  if (spent.usd !== null ? spent.usd !== 0 : spent.tokens > 0) facts.push(formatSpent(spent));
  const saved = formatSaved(event.saved);
  if (saved !== '') facts.push(`saved ${saved}`);
  facts.push(formatDuration(event.durationMs));
  const glyph = status === 'success' && reuse.executed === 0 ? '●' : GLYPHS[status];
  const why =
    error && status !== 'success' ? `: ${error.phase === '' ? '' : `${error.phase}: `}${oneLine(error.message)}` : '';
  const word = status === 'success' ? '' : ` ${status}${why}`;
  const file = event.file === undefined ? '' : ` ${style.dim('→')} ${event.file}`;
  return `${color(glyph)} ${truncate(oneLine(event.label), 80)}${word}  ${facts.join(' · ')}${file}`;
}

/** For logs: a row that was all reused is a number, not a line. */
export function progressLine(ended: number, total: number, reused: number): string {
  return `… ${grouped(ended)} of ${grouped(total)} rows, ${grouped(reused)} reused`;
}
