import { dagOrder } from '../../plan/dag-order.js';
import type { PhaseState, RunState } from './run-state.js';

/** How long phases took when they were last executed, by id. */
export type UsualTimes = ReadonlyMap<string, number>;

/**
 * The longest path through the phases that are not done, by the times of the last run and, in a map, of its items so
 * far. Undefined where the time of a phase is not known, or where everything takes longer than last time.
 */
export function runTimeLeft(state: RunState, usual: UsualTimes, now: number): number | undefined {
  const endsIn = new Map<string, number>();
  let longest = 0;
  for (const { id, needs } of dagOrder(state.outline.phases)) {
    const own = phaseTimeLeft(state.byId.get(id), usual.get(id), now);
    if (own === undefined) return undefined;
    const before = own === 0 ? 0 : Math.max(0, ...needs.map((need) => endsIn.get(need) ?? 0));
    endsIn.set(id, before + own);
    longest = Math.max(longest, before + own);
  }
  return longest > 0 ? longest : undefined;
}

function phaseTimeLeft(phase: PhaseState | undefined, usual: number | undefined, now: number): number | undefined {
  if (phase === undefined || phase.state === 'waiting') return usual;
  if (phase.state !== 'running' || phase.startedAt === undefined) return 0;
  const elapsed = Math.max(0, now - phase.startedAt);
  const { items } = phase;
  const ended = items ? items.done + items.failed : 0;
  const executed = ended - (items?.reused ?? 0);
  if (items && executed > 0) return (elapsed / executed) * (items.total - ended);
  return usual === undefined ? undefined : Math.max(0, usual - elapsed);
}
