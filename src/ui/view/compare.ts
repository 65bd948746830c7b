import { wasExecuted } from './causes.js';
import type { ComparedPhase, Comparison, PhaseView, RunView, Side, Verdict } from './types.js';

/** Which phases ran now, why, and what that cost beside what they cost before. */
export function compareRuns(now: RunView, before: RunView): Comparison {
  const earlier = new Map(before.phases.map((phase) => [phase.id, phase]));
  const current = new Set(now.phases.map(({ id }) => id));
  const gone = before.phases.filter(({ id }) => !current.has(id));
  const { runId, flow, state, startedAt, durationMs, spent, saved } = before;
  return {
    before: { runId, flow, state, startedAt, durationMs, spent, saved },
    phases: [
      ...now.phases.map((phase) => compared(phase, earlier.get(phase.id))),
      ...gone.map((phase) => ({ id: phase.id, verdict: 'gone' as const, why: 'not in this run', before: side(phase) })),
    ],
  };
}

function compared(phase: PhaseView, before: PhaseView | undefined): ComparedPhase {
  const verdict = verdictOf(phase, before);
  const why = verdict === 'reused' && before && wasExecuted(before) ? 'ran before, reused now' : phase.reason;
  return { id: phase.id, verdict, why, ...(before && { before: side(before) }), now: side(phase) };
}

function verdictOf(phase: PhaseView, before: PhaseView | undefined): Verdict {
  if (phase.hit !== undefined) return 'reused';
  if (!wasExecuted(phase)) return 'left-out';
  return before ? 'ran' : 'new';
}

function side({ state, hit, spent, durationMs }: PhaseView): Side {
  return { state, reused: hit !== undefined, ...(spent && { spent }), durationMs };
}
