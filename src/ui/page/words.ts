import type { Savings, Spent } from '../../model/outcome.js';
import { formatDuration } from '../../util/duration.js';
import { formatSaved, formatSpent } from '../../util/format.js';
import { oneLine } from '../../util/terminal-text.js';
import type { PhaseView, UnitView } from '../view/types.js';

/** An outcome as the page shows it: with a word, an icon and a colour, never a colour alone. */
export type Outcome =
  | 'ran'
  | 'reused'
  | 'failed'
  | 'blocked'
  | 'paused'
  | 'running'
  | 'waiting'
  | 'skipped'
  | 'unfinished';

export const OUTCOMES: readonly Outcome[] = [
  ...(['failed', 'blocked', 'unfinished', 'paused', 'running', 'ran', 'reused', 'waiting', 'skipped'] as const),
];

type Went = Pick<PhaseView | UnitView, 'state' | 'hit'>;

export function outcomeOf({ state, hit }: Went): Outcome {
  switch (state) {
    case 'done':
      return hit === undefined ? 'ran' : 'reused';
    case 'cancelled':
    case 'not-run':
      return 'skipped';
    default:
      return state;
  }
}

/** The outcome of a run or a row. */
export function runOutcome(state: string): Outcome {
  const known: Readonly<Record<string, Outcome>> = {
    ...{ success: 'ran', running: 'running', paused: 'paused', blocked: 'blocked', crashed: 'unfinished' },
    ...{ interrupted: 'unfinished', cancelled: 'skipped' },
  };
  return Object.hasOwn(known, state) ? known[state]! : 'failed';
}

const STATES: Readonly<Record<string, string>> = {
  ...{ success: 'succeeded', paused: 'waits', running: 'still going', crashed: 'crashed' },
  ...{ 'over-budget': 'over budget' },
};

export function runWord(state: string): string {
  return Object.hasOwn(STATES, state) ? STATES[state]! : oneLine(state);
}

/** `ran`, `ran 1 of 10`, `reused`, `shared` (reused from the shared cache), `skipped`. */
export function outcomeWord(phase: Went & Pick<PhaseView, 'items' | 'shared'>): string {
  const outcome = outcomeOf(phase);
  if (outcome === 'reused' && phase.shared) return 'shared';
  if (outcome === 'skipped' && phase.state === 'not-run') return 'not run';
  if (outcome === 'ran' && phase.items && phase.items.executed < phase.items.total) {
    return `ran ${phase.items.executed} of ${phase.items.total}`;
  }
  return outcome;
}

/** Why, as a sentence's end: `ran because …`. */
export function whyText({
  state,
  hit,
  shared,
  ageMs,
  reason,
  failure,
}: Pick<PhaseView, 'state' | 'hit' | 'shared' | 'ageMs' | 'reason' | 'failure'>): string {
  if (failure !== undefined) return oneLine(failure);
  if (hit !== undefined) {
    const kept = shared ? 'from the shared cache' : 'kept from an earlier run';
    const from = hit === 'cross-run' ? kept : 'from the run that this one continues';
    return ageMs === undefined ? from : `${from}, ${formatDuration(ageMs)} old`;
  }
  if (state === 'waiting') return 'waits for what it needs';
  return oneLine(reason);
}

export function spentText(spent: Spent | undefined): string {
  return spent ? formatSpent(spent) : '';
}

export function savedWord(saved: Savings | undefined): string {
  return saved ? formatSaved(saved) : '';
}

/** `2026-11-18 06:40:07`, in the reader's own time. */
export function timeText(at: number): string {
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}
