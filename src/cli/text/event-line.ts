import type { RunEvent } from '../../model/event.js';
import type { Savings } from '../../model/outcome.js';

/** An event for `--events`, with times rounded to whole milliseconds. */
export function eventLine(event: RunEvent): string {
  if (event.type === 'phase-end') return JSON.stringify({ ...event, outcome: inWhole(event.outcome) });
  return JSON.stringify(event.type === 'row-end' ? inWhole(event) : event);
}

interface Timed {
  readonly durationMs: number;
  readonly ageMs?: number;
  readonly saved?: Savings;
}

function inWhole<T extends Timed>(timed: T): T {
  const { durationMs, ageMs, saved } = timed;
  return {
    ...timed,
    durationMs: Math.round(durationMs),
    ...(ageMs === undefined ? {} : { ageMs: Math.round(ageMs) }),
    ...(saved === undefined ? {} : { saved: { ...saved, ms: Math.round(saved.ms) } }),
  };
}
