import type { Estimate, Range } from '../../run/batch/estimate.js';
import type { RowEstimates } from '../../run/batch/known-costs.js';
import { formatDuration } from '../../util/duration.js';
import { formatCount, formatMoney, grouped, plural } from '../../util/format.js';

/**
 * `2 new rows: about $0.12 ($0.10 to $0.14) and 4s of work, by the last 40`, and the same for the rows that would be
 * done again.
 */
export function estimateText({ fresh, again, by }: RowEstimates): string {
  if (fresh.rows + again.rows === 0) return '';
  if (fresh.known + again.known === 0) return 'what that costs is not known yet\n';
  const basis = by === 0 ? 'by the last run' : by === 1 ? 'by the last row' : `by the last ${grouped(by)}`;
  return [
    lineOf(plural(fresh.rows, 'new row'), fresh, basis),
    lineOf(`${plural(again.rows, 'row')} again`, again, 'by what rows last cost'),
  ].join('');
}

function lineOf(rows: string, estimate: Estimate, basis: string): string {
  if (estimate.rows === 0) return '';
  if (estimate.known === 0) return `${rows}: not known yet\n`;
  const { executions, known } = estimate;
  const of = known < executions ? ` (known for ${grouped(known)} of ${plural(executions, 'phase')})` : '';
  return `${rows}: about ${amounts(estimate)}, ${basis}${of}\n`;
}

function amounts({ usd, tokens, ms }: Estimate): string {
  const work = `${withRange(ms, formatDuration)} of work`;
  const counted = withRange(tokens, (count) => `${formatCount(count)} tokens`);
  if (usd !== null && usd.about > 0) return `${withRange(usd, formatMoney)} and ${work}`;
  if (tokens.about === 0) return work;
  return `${counted}${usd === null ? ' (price unknown)' : ''} and ${work}`;
}

/** `$0.12 ($0.10 to $0.14)`; `$0.12` where the range is that one value. */
function withRange({ low, about, high }: Range, format: (value: number) => string): string {
  const [from, mean, to] = [low, about, high].map((value) => format(value)) as [string, string, string];
  return from === to ? mean : `${mean} (${from} to ${to})`;
}
