import type { Savings, Spent } from '../model/outcome.js';
import type { PhaseResult } from '../run/core/result.js';
import { formatDuration } from '../util/duration.js';
import { formatCount, formatMoney, formatSaved } from '../util/format.js';

/** `cross-run, 6m old`; empty when it was executed. */
export function reuseText({ cacheHit, shared, ageMs }: Pick<PhaseResult, 'cacheHit' | 'shared' | 'ageMs'>): string {
  if (cacheHit === null) return '';
  const from = shared ? 'shared' : cacheHit;
  return ageMs === undefined ? from : `${from}, ${formatDuration(ageMs)} old`;
}

/** The price where it is known, else the tokens; empty for a phase that uses neither. */
export function costText(spent: Spent): string {
  if (spent.usd === null && spent.tokens === 0) return '–';
  if (spent.usd === null) return `${formatCount(spent.tokens)} tokens`;
  if (spent.usd > 0) return formatMoney(spent.usd);
  return spent.tokens > 0 ? `${formatCount(spent.tokens)} tokens` : '';
}

/** `$0.04, 12s`; empty when nothing was saved. */
export function savedText(saved: Savings | undefined): string {
  if (!saved) return '';
  return formatSaved(saved) || (saved.usd === null ? '–' : '');
}

/** What a whole run or batch spent and saved, as properties of a test report. */
export function moneyProperties({ spent, saved }: { readonly spent: Spent; readonly saved: Savings }) {
  return { spent: costText(spent) || '$0.00', saved: savedText(saved) || 'nothing' };
}
