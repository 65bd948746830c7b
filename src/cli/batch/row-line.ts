import { formatDuration } from '../../util/duration.js';
import { formatSaved, formatSpent, grouped } from '../../util/format.js';
import { oneLine, truncate } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import type { RowEnd } from './batch-state.js';

const GLYPHS = { success: '✔', failed: '✖', blocked: '■', paused: '‖', 'over-budget': '–', interrupted: '–' } as const;

/** `✔ sea level  2 executed, 1 reused · $0.01 · 2.1s → results/sea-level.md`. */
export function rowLine(event: RowEnd, style: Style): string {
  const { status, reuse } = event;
  const color = status === 'success' ? style.green : status === 'paused' ? style.yellow : style.red;
  const glyph = status === 'success' && reuse.executed === 0 ? '●' : GLYPHS[status];
  const why = status === 'success' ? '' : rowError(event);
  const word = status === 'success' ? '' : ` ${status}${why === '' ? '' : `: ${why}`}`;
  return `${color(glyph)} ${truncate(oneLine(event.label), 80)}${word}  ${rowFacts(event, style)}`;
}

function rowFacts({ reuse, spent, saved, durationMs, file }: RowEnd, style: Style): string {
  const reused = reuse.run + reuse.crossRun;
  const facts = [`${reuse.executed} executed${reused > 0 ? `, ${reused} reused` : ''}`];
  if (spent.usd !== null ? spent.usd !== 0 : spent.tokens > 0) facts.push(formatSpent(spent));
  const kept = formatSaved(saved);
  if (kept !== '') facts.push(`saved ${kept}`);
  facts.push(formatDuration(durationMs));
  return `${facts.join(' · ')}${file === undefined ? '' : ` ${style.dim('→')} ${file}`}`;
}

/** `look: sh exited with status 3: no such page`. */
export function rowError({ error }: Pick<RowEnd, 'error'>): string {
  return error ? `${error.phase === '' ? '' : `${error.phase}: `}${oneLine(error.message)}` : '';
}

/** For logs: a row that was all reused is a number, not a line. */
export function progressLine(ended: number, total: number, reused: number): string {
  return `… ${grouped(ended)} of ${grouped(total)} rows, ${grouped(reused)} reused`;
}
