import type { Failure } from '../model/failure.js';
import type { Flow } from '../model/flow.js';
import { NO_OUTPUT, NO_USAGE, type PhaseOutcome } from '../model/outcome.js';
import type { Selection } from './options.js';
import type { PhaseContext } from './phase-context.js';

/** What a partial run wants of a phase: run it, take its last output, leave it, or count it as done without one. */
export type Selected = 'run' | 'restore' | 'leave' | 'skip';

/** Decides for every phase of the run's own flow. */
export function selectPhases(flow: Flow, selection: Selection | undefined): (id: string) => Selected {
  const { only, from, until, skip = [] } = selection ?? {};
  if (only === undefined && from === undefined && until === undefined) {
    return skip.length === 0 ? () => 'run' : (id) => (skip.includes(id) ? 'skip' : 'run');
  }
  const above = only !== undefined || from !== undefined ? upstreamOf(flow, only ?? from!) : new Set<string>();
  const wanted = wantedPhases(flow, selection ?? {});
  return (id) => {
    if (skip.includes(id)) return 'skip';
    if (wanted.has(id)) return 'run';
    // Whatever the wanted ones need from outside of the selection comes from the last run.
    return above.has(id) || (only === undefined && until === undefined) ? 'restore' : 'leave';
  };
}

function wantedPhases(flow: Flow, { only, from, until }: Selection): Set<string> {
  if (only !== undefined) return new Set([only]);
  const down = from === undefined ? undefined : downstreamOf(flow, from);
  const up = until === undefined ? undefined : upstreamOf(flow, until).add(until);
  return new Set(flow.phases.map((phase) => phase.id).filter((id) => (down?.has(id) ?? true) && (up?.has(id) ?? true)));
}

function upstreamOf(flow: Flow, id: string): Set<string> {
  const byId = new Map(flow.phases.map((phase) => [phase.id, phase]));
  const found = new Set<string>();
  const visit = (current: string) => {
    for (const edge of byId.get(current)?.needs ?? []) {
      if (found.has(edge.id)) continue;
      found.add(edge.id);
      visit(edge.id);
    }
  };
  visit(id);
  return found;
}

function downstreamOf(flow: Flow, id: string): Set<string> {
  const found = new Set([id]);
  // Phases may stand in any order in the file, so one pass is not enough.
  for (let grew = true; grew; ) {
    grew = false;
    for (const phase of flow.phases) {
      if (!found.has(phase.id) && phase.needs.some((edge) => found.has(edge.id))) {
        found.add(phase.id);
        grew = true;
      }
    }
  }
  return found;
}

/** Names in a selection that the flow does not have. */
export function unknownInSelection(flow: Flow, selection: Selection): string[] {
  const ids = new Set(flow.phases.map((phase) => phase.id));
  const named = [
    selection.only,
    selection.from,
    selection.until,
    ...(selection.rerun ?? []),
    ...(selection.skip ?? []),
  ];
  return named.filter((id): id is string => id !== undefined && !ids.has(id));
}

/** The output that the phase had in the last run, whatever it was made from. */
export async function restored(at: PhaseContext): Promise<PhaseOutcome> {
  const line = at.run.prior.ofPhase(at.path);
  const base = { id: at.phase.id, kind: at.phase.kind, attempts: 0, durationMs: 0, usage: NO_USAGE };
  if (!line) {
    const failure: Failure = {
      code: 'bad-input',
      message: `there is no earlier output of ${at.path} to work with`,
      hint: 'Run the whole flow once, or start further up.',
    };
    return {
      ...base,
      status: 'failed',
      cacheHit: null,
      reason: 'no earlier output',
      output: NO_OUTPUT,
      files: [],
      failure,
    };
  }
  const ageMs = Math.max(0, at.run.options.project.clock.now() - (line.madeAt ?? line.at));
  const files = line.files ?? [];
  if (files.length > 0) await at.run.outputFiles.restore(files);
  return {
    ...base,
    status: 'done',
    cacheHit: 'run',
    ageMs,
    reason: 'restored from the last run',
    key: line.key,
    output: line.output,
    files,
    items: line.items,
  };
}
