import { explainChange } from '../../memo/explain.js';
import { causesOf, wasExecuted } from './causes.js';
import { undeclaredChange } from './inputs.js';
import type { KeptIn } from './made-from.js';
import type { ReadRun } from './read-run.js';
import type { TextBudget } from './text.js';
import type { ComparedPhase, PhaseView, RunComparison, Side, Verdict } from './types.js';

/** Phases whose inputs are compared; the others show why they ran. */
const MOST_LOOKED_UP = 500;
const MOST_WORDS = 5;

interface CompareSources {
  readonly kept: KeptIn;
  readonly texts: TextBudget;
}

/** Which phases ran now, which of their inputs differ, and what they cost now and then. */
export function compareRuns(now: ReadRun, before: ReadRun, sources: CompareSources): RunComparison {
  const earlier = new Map(before.view.phases.map((phase) => [phase.id, phase]));
  const current = new Set(now.view.phases.map(({ id }) => id));
  const gone = before.view.phases.filter(({ id }) => !current.has(id));
  const { runId, flow, state, startedAt, durationMs, spent, saved } = before.view;
  const phases = now.view.phases.map((phase, at) => {
    const differs = at < MOST_LOOKED_UP ? differencesOf(phase, { now, before, ...sources }) : undefined;
    return { ...compared(phase, earlier.get(phase.id)), ...(differs && { differs }) };
  });
  return {
    before: { runId, flow, state, startedAt, durationMs, spent, saved },
    phases: [
      ...phases,
      ...gone.map((phase) => ({ id: phase.id, verdict: 'gone' as const, why: 'not in this run', before: side(phase) })),
    ],
    edits: causesOf(now.view.phases.map((phase, at) => asChanged(phase, phases[at]!))),
  };
}

/** Undefined: not known, or not one result: items have their own reasons. */
function differencesOf(
  { id }: PhaseView,
  { now, before, kept, texts }: { readonly now: ReadRun; readonly before: ReadRun } & CompareSources,
): readonly string[] | undefined {
  const [current, earlier] = [now, before].map((run) => run.madeFrom.find(id, kept));
  if (!current || !earlier || 'unknown' in current || 'unknown' in earlier) return undefined;
  const changes = explainChange(current.identity, earlier.identity).map(({ message }) => message);
  const unseen = undeclaredChange(current, earlier);
  const all = [...changes, ...(unseen === undefined ? [] : [unseen])].map((text) => texts.short(text, 400));
  const more = all.length - MOST_WORDS;
  return more > 0 ? [...all.slice(0, MOST_WORDS), `and ${more} more`] : all;
}

/** Replaces the reason, which compares with the nearest entry, by the differences between these two runs. */
function asChanged(phase: PhaseView, { differs }: ComparedPhase): PhaseView {
  return differs && differs.length > 0 ? { ...phase, reason: differs.join('; ') } : phase;
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
