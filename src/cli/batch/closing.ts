import type { BatchResult } from '../../run/batch/result.js';
import { formatDuration } from '../../util/duration.js';
import { formatBill, grouped, plural } from '../../util/format.js';
import { oneLine, truncate } from '../../util/terminal-text.js';
import type { Style } from '../terminal/style.js';

const MOST_FAILURES = 10;

/** What a batch ends with: how it went, what failed and why, what was spent and saved, and what to do next. */
export function closingLines(result: BatchResult, style: Style): string[] {
  const { total, done, failed, paused, left, reused, reuse } = result;
  const mark =
    result.status === 'success' ? style.green('✔') : result.status === 'paused' ? style.yellow('‖') : style.red('✖');
  const parts = [`${grouped(done)} of ${plural(total, 'row')} done`];
  if (reused > 0) parts.push(`${grouped(reused)} all reused`);
  if (failed > 0) parts.push(`${grouped(failed)} failed`);
  if (paused > 0) parts.push(`${grouped(paused)} waiting for an approval`);
  if (left > 0) parts.push(`${grouped(left)} not run`);
  const counted = `${plural(reuse.executed, 'phase')} executed, ${grouped(reuse.run + reuse.crossRun)} reused`;
  const bill = [formatBill(result.spent, result.saved)].filter(Boolean);
  return [
    ...failures(result, style),
    `${mark} ${style.bold(oneLine(result.flow))} after ${formatDuration(result.durationMs)}: ${parts.join(', ')}`,
    `  ${[counted, ...bill].join(' · ')}`,
    ...next(result).map((line) => `  ${style.dim('→')} ${line}`),
  ];
}

function failures({ rows, status: ended, error: stopped }: BatchResult, style: Style): string[] {
  const bad = rows.filter(({ status }) => status === 'failed' || status === 'blocked');
  // No row is to blame: the time or the money of the whole batch was used up.
  if (bad.length === 0 && stopped && (ended === 'failed' || ended === 'over-budget')) {
    const hint = stopped.hint ? [`  ${style.dim('→')} ${oneLine(stopped.hint)}`] : [];
    return [`${style.red('✖')} ${oneLine(stopped.message)}`, ...hint, ''];
  }
  const lines = bad.slice(0, MOST_FAILURES).flatMap(({ label, line, status, error }) => {
    const why = error ? `${error.phase}: ${oneLine(error.message)}` : '';
    const first = `${style.red('✖')} ${style.bold(truncate(oneLine(label), 60))} (line ${line}) ${status}: ${why}`;
    return error?.hint ? [first, `  ${style.dim('→')} ${oneLine(error.hint)}`] : [first];
  });
  if (bad.length > MOST_FAILURES) lines.push(`  … ${plural(bad.length - MOST_FAILURES, 'more row')} failed`);
  return lines.length === 0 ? [] : [...lines, ''];
}

function next({ status, runId, paused }: BatchResult): string[] {
  const again = 'the same command with --resume    pays only for what is missing';
  const decide = [
    `taskflow runs show ${runId}    shows what waits`,
    `taskflow approve ${runId} PHASE    then ${again}`,
  ];
  switch (status) {
    case 'success':
      return [];
    case 'paused':
      return decide;
    case 'over-budget':
      return [`${again}; raise --max-usd`];
    default:
      return [`taskflow trace ${runId}    shows every attempt`, ...(paused > 0 ? decide : [again])];
  }
}
