import type { PhaseOutcome, Savings, Usage } from '../../model/outcome.js';
import { totalTokens } from '../../model/outcome.js';
import { formatDuration } from '../../util/duration.js';
import { formatCount, formatMoney } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';

/** `CACHED (cross-run · age 6m · saved $0.04, 12s)`, `ran (input changed: file:package.json)`, `skipped (…)`. */
export function outcomeNote(outcome: PhaseOutcome): string {
  const { status, cacheHit, reason, failure } = outcome;
  if (status === 'failed' || status === 'blocked') {
    return oneLine(failure?.message ?? reason) + (outcome.attempts > 1 ? ` (${outcome.attempts} attempts)` : '');
  }
  if (cacheHit !== null) return `CACHED (${[cacheHit, ...hitFacts(outcome)].join(' · ')})`;
  if (status === 'paused') return 'waits for an approval';
  const word = status === 'done' ? 'ran' : status;
  const attempts = status === 'done' && outcome.attempts > 1 ? `, attempt ${outcome.attempts}` : '';
  const tolerated = status === 'done' && failure ? `failed, and is optional: ${oneLine(failure.message)}` : '';
  const why = tolerated || oneLine(reason);
  return why === '' ? `${word}${attempts}` : `${word}${attempts} (${why})`;
}

function hitFacts(outcome: PhaseOutcome): string[] {
  const facts: string[] = [];
  if (outcome.ageMs !== undefined) facts.push(`age ${formatDuration(outcome.ageMs)}`);
  const saved = outcome.saved && savedAmounts(outcome.saved);
  if (saved) facts.push(`saved ${saved}`);
  return facts;
}

/** `$0.04, 12s`: money and time. Empty when nothing worth a word was saved. */
export function savedAmounts(saved: Savings): string {
  const amounts: string[] = [];
  if (saved.usd > 0) amounts.push(formatMoney(saved.usd));
  else if (saved.tokens > 0) amounts.push(`${formatCount(saved.tokens)} tokens`);
  if (saved.ms >= 1) amounts.push(formatDuration(saved.ms));
  return amounts.join(', ');
}

/** `12.3k tokens`, `$0.04`: what a phase used so far; nothing where it used nothing. */
export function usageFacts(usage: Usage): string[] {
  const tokens = totalTokens(usage);
  if (tokens === 0 && !usage.usd) return [];
  const facts = tokens > 0 ? [`${formatCount(tokens)} tokens`] : [];
  // Unknown is not free: a runner that reports no money shows none.
  if (usage.usd !== undefined) facts.push(formatMoney(usage.usd));
  return facts;
}
