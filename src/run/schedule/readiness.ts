/** How a settled dependency stands in the eyes of those that need it. `open`: it has not settled. */
export type Standing = 'open' | 'done' | 'skipped' | 'bad' | 'waiting' | 'cancelled';

export type Readiness =
  | { readonly now: 'wait' }
  | { readonly now: 'start' }
  /** It will never start; `because` is the position of the dependency that decides it. */
  | { readonly now: 'never'; readonly why: 'bad' | 'waiting' | 'cancelled' | 'all-skipped'; readonly because: number };

const WAIT: Readiness = { now: 'wait' };
const START: Readiness = { now: 'start' };

/**
 * Whether a phase may start. `all`: every dependency is settled, none is bad, at least one is done (a skipped one was
 * somebody's decision, not a failure). `any`: the first that is done is enough; only when none can be any more is it over.
 */
export function readiness(join: 'all' | 'any', standings: readonly Standing[]): Readiness {
  if (standings.length === 0) return START;
  if (join === 'any' && standings.includes('done')) return START;
  if (standings.includes('open')) return WAIT;
  for (const why of ['bad', 'waiting', 'cancelled'] as const) {
    const because = standings.indexOf(why);
    if (because !== -1) return { now: 'never', why, because };
  }
  return standings.includes('done') ? START : { now: 'never', why: 'all-skipped', because: 0 };
}
