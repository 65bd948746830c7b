import { waitsFor } from '../../model/failure.js';
import type { ShownOutcome, Usage } from '../../model/outcome.js';
import { totalTokens } from '../../model/outcome.js';
import { formatDuration } from '../../util/duration.js';
import { formatCount, formatMoney, formatSaved } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';

/**
 * `CACHED (cross-run · age 6m · saved $0.04, 12s)`, `ran (input changed: file:package.json)`, `skipped (…)`, and
 * further facts: who won, where changes were kept, why it is not kept for the next run.
 */
export function outcomeNote(outcome: ShownOutcome): string {
  const note = statusNote(outcome);
  return outcome.remark === undefined ? note : `${note} · ${oneLine(outcome.remark)}`;
}

function statusNote(outcome: ShownOutcome): string {
  const { status, cacheHit, failure } = outcome;
  if (status === 'failed' || status === 'blocked') {
    const why = oneLine(failure?.message ?? outcome.reason);
    return outcome.optional ? `${status}, and is optional: ${why}` : why;
  }
  if (cacheHit !== null) return hitNote(outcome);
  if (status === 'paused') return `waits for ${waitsFor(failure)}`;
  if (outcome.noWork) return oneLine(outcome.reason);
  const reason = oneLine(outcome.reason);
  if (status !== 'done') return reason === 'interrupted' ? reason : withReason(status, reason);
  return withReason(decided(outcome), isAsked(outcome) ? '' : reason);
}

/** Gates and approvals run each time, so a reason would say nothing. */
function isAsked({ kind }: ShownOutcome): boolean {
  return kind === 'gate' || kind === 'approval';
}

function decided({ kind, output }: ShownOutcome): string {
  if (kind === 'gate') return 'passed';
  if (kind !== 'approval') return 'ran';
  const note = 'text' in output ? oneLine(output.text) : '';
  return note === '' || note === 'approved' ? 'approved' : `approved: ${note}`;
}

function withReason(word: string, reason: string): string {
  return reason === '' ? word : `${word} (${reason})`;
}

type Reused = Pick<ShownOutcome, 'cacheHit' | 'shared' | 'ageMs' | 'saved'>;

function hitNote({ cacheHit, shared, ageMs, saved }: Reused): string {
  const age = ageMs === undefined ? '' : ` · age ${formatDuration(ageMs)}`;
  const amounts = saved ? formatSaved(saved) : '';
  return `CACHED (${shared ? 'shared' : cacheHit}${age}${amounts === '' ? '' : ` · saved ${amounts}`})`;
}

type Timed = Pick<ShownOutcome, 'durationMs' | 'attempts' | 'items'>;

/** `4.1s in 3 attempts`: all of them, and the pauses between them. Items and branches have attempts of their own. */
export function tookText({ durationMs, attempts, items }: Timed): string {
  const took = formatDuration(durationMs);
  return attempts > 1 && !items ? `${took} in ${attempts} attempts` : took;
}

/** `12.3k tokens`, `$0.04`: what a phase used so far; empty where it used nothing. */
export function usageFacts(usage: Usage): string[] {
  const tokens = totalTokens(usage);
  if (tokens === 0 && !usage.usd) return [];
  const facts = tokens > 0 ? [`${formatCount(tokens)} tokens`] : [];
  // Unknown is not free: a runner that reports no money shows none.
  if (usage.usd !== undefined) facts.push(formatMoney(usage.usd));
  return facts;
}
