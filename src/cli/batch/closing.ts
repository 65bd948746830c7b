import type { RunStatus } from '../../model/event.js';
import { waitsFor } from '../../model/failure.js';
import type { BatchResult } from '../../run/batch/result.js';
import { formatDuration } from '../../util/duration.js';
import { formatBill, grouped, plural } from '../../util/format.js';
import { oneLine, truncate } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';
import { type Advice, adviceLines } from '../text/advice.js';
import { rowError } from './row-line.js';

const MOST_FAILURES = 10;

const WORDS: Readonly<Record<RunStatus, string>> = {
  success: '',
  failed: '',
  blocked: '',
  paused: 'waits',
  'over-budget': 'stopped: the budget is used up',
  interrupted: 'was interrupted',
};

interface ClosingOptions {
  readonly style: Style;
  /** Each failed row was named when it ended. */
  readonly named?: boolean;
  /** The page in the `--out` folder. */
  readonly summary?: string;
  /** The width of the terminal. */
  readonly columns?: number;
}

/** The last lines of a batch: how it went, what failed and why, what was spent and saved, and what to do next. */
export function closingLines(result: BatchResult, options: ClosingOptions): string[] {
  const { style, named = false, summary, columns } = options;
  const { total, done, failed, paused, left, underWay, reused, reuse } = result;
  const mark =
    result.status === 'success' ? style.green('✔') : result.status === 'paused' ? style.yellow('‖') : style.red('✖');
  const parts = [`${grouped(done)} of ${plural(total, 'row')} done`];
  if (reused > 0) parts.push(`${grouped(reused)} all reused`);
  if (failed > 0) parts.push(`${grouped(failed)} failed`);
  if (paused > 0) parts.push(`${grouped(paused)} waiting for ${waitsFor(pausedBy(result))}`);
  if (underWay > 0) parts.push(`${grouped(underWay)} under way`);
  if (left > underWay) parts.push(`${grouped(left - underWay)} not run`);
  const counted = `${plural(reuse.executed, 'phase')} executed, ${grouped(reuse.run + reuse.crossRun)} reused`;
  const bill = [formatBill(result.spent, result.saved)].filter(Boolean);
  const how = [style.bold(oneLine(result.flow)), WORDS[result.status], `after ${formatDuration(result.durationMs)}`];
  const page: Advice[] = summary === undefined ? [] : [[summary, 'has all rows on one page']];
  return [
    ...failures(result, style, named),
    `${mark} ${how.filter(Boolean).join(' ')}: ${parts.join(', ')}`,
    `  ${[counted, ...bill].join(' · ')}`,
    ...adviceLines([...page, ...next(result)], { style, columns }),
  ];
}

function pausedBy({ rows }: BatchResult) {
  return rows.find(({ status }) => status === 'paused')?.error;
}

function failures({ rows, status: ended, error: stopped }: BatchResult, style: Style, named: boolean): string[] {
  const bad = rows.filter(({ status }) => status === 'failed' || status === 'blocked');
  // No row failed: the time or the money of the whole batch was used up.
  if (bad.length === 0 && stopped && (ended === 'failed' || ended === 'over-budget')) {
    const hint = stopped.hint ? [`  ${style.dim('→')} ${oneLine(stopped.hint)}`] : [];
    return [`${style.red('✖')} ${oneLine(stopped.message)}`, ...hint, ''];
  }
  if (named) return [];
  const hints = new Set<string>();
  const lines = bad.slice(0, MOST_FAILURES).flatMap(({ label, line, status, error }) => {
    const name = style.bold(truncate(oneLine(label), 60));
    const first = `${style.red('✖')} ${name} (line ${line}) ${status}: ${rowError({ error })}`;
    // The same advice for every row is given once.
    if (!error?.hint || hints.has(error.hint)) return [first];
    hints.add(error.hint);
    return [first, `  ${style.dim('→')} ${oneLine(error.hint)}`];
  });
  if (bad.length > MOST_FAILURES) lines.push(`  … ${plural(bad.length - MOST_FAILURES, 'more row')} failed`);
  return lines.length === 0 ? [] : [...lines, ''];
}

function next(result: BatchResult): Advice[] {
  const { status, runId, paused } = result;
  const again: Advice = ['the same command with --resume', 'pays only for what is missing'];
  const decide: Advice[] = [
    [`taskflow runs show ${runId}`, 'shows what waits'],
    [`taskflow approve ${runId} PHASE`, 'decides it'],
    again,
  ];
  switch (status) {
    case 'success':
      return [];
    case 'paused':
      return pausedBy(result)?.code === 'usage-limit' ? [again] : decide;
    case 'over-budget':
      return [['the same command with --resume and a higher --max-usd', again[1]]];
    case 'interrupted':
      return [again];
    default:
      return [[`taskflow trace ${runId}`, 'shows every attempt'], ...(paused > 0 ? decide : [again])];
  }
}
