import type { RunEvent } from './event.js';
import type { PhaseOutcome } from './outcome.js';

/** What a line about a reused phase says. */
export type Hit = Pick<PhaseOutcome, 'cacheHit' | 'ageMs' | 'saved'>;

/**
 * Reused phases that are told at once, by their numbers. Of a thousand of them people read a line each: what else is known
 * of one is put together for those who ask.
 */
export interface TakenPhases {
  readonly at: number;
  readonly runId: string;
  readonly count: number;
  id(phase: number): string;
  hit(phase: number): Hit;
  outcome(phase: number): PhaseOutcome;
}

/** The same, told one by one. */
export function* phaseEnds(taken: TakenPhases): Generator<RunEvent & { readonly type: 'phase-end' }> {
  const { at, runId } = taken;
  for (let phase = 0; phase < taken.count; phase++) {
    yield { type: 'phase-end', at, runId, phase: taken.id(phase), outcome: taken.outcome(phase) };
  }
}
