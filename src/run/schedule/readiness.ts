/** What a dependency means for the phases that need it. `open`: it has not settled. */
export type DependencyState = 'open' | 'done' | 'skipped' | 'bad' | 'waiting' | 'cancelled';

export type Readiness =
  | { readonly now: 'wait' }
  | { readonly now: 'start' }
  /** It will never start; `because` is the position of the dependency that decides it. */
  | { readonly now: 'never'; readonly why: 'bad' | 'waiting' | 'cancelled' | 'all-skipped'; readonly because: number };

const WAIT: Readiness = { now: 'wait' };
const START: Readiness = { now: 'start' };

/**
 * Whether a phase may start. `all`: every dependency has settled, none is bad, at least one is done (a skipped one does
 * not count as bad). `any`: one that is done is enough; the phase never starts once none can be done any more.
 */
export function readiness(join: 'all' | 'any', states: readonly DependencyState[]): Readiness {
  if (states.length === 0) return START;
  if (join === 'any' && states.includes('done')) return START;
  if (states.includes('open')) return WAIT;
  for (const why of ['bad', 'waiting', 'cancelled'] as const) {
    const because = states.indexOf(why);
    if (because !== -1) return { now: 'never', why, because };
  }
  return states.includes('done') ? START : { now: 'never', why: 'all-skipped', because: 0 };
}
