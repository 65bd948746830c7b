import type { Savings } from '../model/outcome.js';
import type { PhaseResult } from '../run/core/result.js';
import { formatDuration } from '../util/duration.js';
import { formatCount, formatMoney, formatSaved } from '../util/format.js';

/** `cross-run, 6m old`; empty when it was executed. */
export function reuseText({ cacheHit, ageMs }: Pick<PhaseResult, 'cacheHit' | 'ageMs'>): string {
  if (cacheHit === null) return '';
  return ageMs === undefined ? cacheHit : `${cacheHit}, ${formatDuration(ageMs)} old`;
}

/** Money where it is known, else tokens if those are; empty for what costs neither. */
export function costText(spent: { readonly usd: number | null; readonly tokens: number }): string {
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
