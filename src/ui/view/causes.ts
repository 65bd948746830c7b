import { addSpent, NOTHING_SPENT } from '../../model/outcome.js';
import type { Cause, PhaseView, UnitView } from './types.js';

type Part = Pick<PhaseView | UnitView, 'state' | 'hit' | 'reason' | 'spent' | 'durationMs'>;

/** Names listed per cause; the rest are counted. */
const LISTED = 3;
/** Ends a circle, which only a forged journal can have. */
const DEPTH = 50;
/** Consequences of a changed upstream phase, which these texts quote. */
const RENDERED = /^(prompt|command|stdin|arguments of the sub-flow) changed/;

/** Finds the causes of executions: follows `upstream notes changed` to the edit that changed `notes`. */
export function causesOf(phases: readonly PhaseView[]): readonly Cause[] {
  const byId = new Map(phases.map((phase) => [phase.id, phase]));
  const rootsOf = remembered((phase: PhaseView, depth: number): readonly string[] =>
    unique(executedParts(phase).flatMap(({ reason }) => roots(reason, depth))),
  );
  const above = (message: string, depth: number): readonly string[] => {
    const phase = byId.get(/^upstream (\S+) changed$/.exec(message)?.[1] ?? '');
    return phase && depth < DEPTH ? rootsOf(phase, depth + 1) : [];
  };
  const roots = (reason: string, depth: number): readonly string[] => {
    const messages = reason.split('; ');
    const found = messages.flatMap((message) => above(message, depth));
    const own = messages.filter((message) => above(message, depth).length === 0);
    return edits([
      ...found,
      ...own.filter((message) => found.length === 0 || !RENDERED.test(message)).map(changedThing),
    ]);
  };
  const causes = new Map<string, { -readonly [F in keyof Cause]: Cause[F] }>();
  for (const phase of phases) {
    for (const part of executedParts(phase)) {
      const what = named(roots(part.reason, 0));
      const cause = causes.get(what) ?? { what, spent: NOTHING_SPENT, ms: 0, phases: [], count: 0 };
      cause.spent = addSpent(cause.spent, part.spent ?? NOTHING_SPENT);
      cause.ms += part.durationMs;
      cause.count += 1;
      if (cause.phases.at(-1) !== phase.id) cause.phases = [...cause.phases, phase.id];
      causes.set(what, cause);
    }
  }
  return [...causes.values()].sort((a, b) => (b.spent.usd ?? 0) - (a.spent.usd ?? 0) || b.ms - a.ms);
}

/** Reasons that add nothing where there is an edit. */
const NO_EDIT = /^(first time|and \d+ more)$/;

function edits(things: readonly string[]): readonly string[] {
  const named = things.filter((thing) => !NO_EDIT.test(thing));
  return unique(named.length > 0 ? named : things);
}

/** The items that executed, else the phase itself. */
function executedParts(phase: PhaseView): readonly Part[] {
  if (!wasExecuted(phase)) return [];
  const units = phase.units.filter(wasExecuted);
  return units.length > 0 ? units : [phase];
}

export function wasExecuted({ state, hit }: Pick<Part, 'state' | 'hit'>): boolean {
  return hit === undefined && (state === 'done' || state === 'failed' || state === 'blocked' || state === 'unfinished');
}

/** `input changed: glob:src/* (src/a.ts)` is about `src/a.ts`. */
function changedThing(message: string): string {
  const input = /^input (?:changed|added|removed): (.*?)(?: \((.+)\))?$/s.exec(message);
  if (input) return input[2] ?? input[1]!.replace(/^file!?:/, '');
  return /^(?:context changed|read last time and changed since): (.+)$/s.exec(message)?.[1] ?? message;
}

function named(roots: readonly string[]): string {
  const more = roots.length - LISTED;
  return more > 0 ? `${roots.slice(0, LISTED).join(', ')} and ${more} more` : roots.join(', ');
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

/** Caches, or a diamond of phases would be walked once for each path through it. */
function remembered(
  find: (phase: PhaseView, depth: number) => readonly string[],
): (phase: PhaseView, depth: number) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (phase, depth) => {
    const before = known.get(phase.id);
    if (before) return before;
    const found = find(phase, depth);
    known.set(phase.id, found);
    return found;
  };
}
