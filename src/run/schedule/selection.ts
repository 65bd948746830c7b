import type { Failure } from '../../model/failure.js';
import type { Flow } from '../../model/flow.js';
import type { Kind } from '../../model/kind.js';
import type { PhaseContext } from '../context/phase-context.js';
import { NOT_EXECUTED, type PhaseOutcome, type Settled } from '../core/execution.js';
import { downstreamOf, upstreamOf } from '../core/neighbours.js';
import type { Selection } from '../core/options.js';
import { phasePath, type Scope } from '../core/scope.js';
import { outcomeOf, resultIn } from '../journal/record.js';
import { coveringOutputs } from '../reuse/covering-outputs.js';
import { ageOf, notExecuted } from '../reuse/settle.js';

/** What a partial run wants of a phase: run it, take its last output, leave it, or count it as done without one. */
export type Selected = 'run' | 'restore' | 'leave' | 'skip';

/** Decides for every phase of the run's own flow. Inside of others, paths may name what is skipped. */
export function selectPhases(scope: Scope, selection: Selection | undefined): (id: string) => Selected {
  const { flow } = scope;
  if (scope.path !== '') {
    const { skip = [] } = selection ?? {};
    return (id) => (skip.includes(phasePath(scope, id)) ? 'skip' : 'run');
  }
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

/**
 * Names in a selection that the flow does not have. A path into a nested flow (`review/check`), an item or a branch
 * (`send[3]`) counts by its start.
 */
export function unknownInSelection(flow: Flow, selection: Selection): string[] {
  const kinds = new Map(flow.phases.map(({ id, kind }) => [id, kind]));
  const isKnown = (path: string) => {
    const unit = /^([^/[]*)\[[^/]*\]$/.exec(path);
    if (unit) return UNITS_BY_NAME.has(kinds.get(unit[1]!) ?? '');
    return kinds.has(path.replace(/(\[[^/]*)?\/.*$/s, ''));
  };
  const whole = [selection.only, selection.from, selection.until].filter((id) => id !== undefined && !kinds.has(id));
  const paths = [...(selection.rerun ?? []), ...(selection.skip ?? [])];
  return [...(whole as string[]), ...paths.filter((path) => !isKnown(path))];
}

/** Kinds whose items or branches are results of their own. */
const UNITS_BY_NAME: ReadonlySet<string> = new Set<Kind>(['map', 'parallel']);

/** The output that the phase had in the last run, whatever it was made from. */
export async function restored(at: PhaseContext): Promise<PhaseOutcome> {
  // It counts by its execution, and no gate takes it out of the store.
  return { ...outcomeOf(at, await restore(at)), findable: undefined, keys: [] };
}

async function restore(at: PhaseContext): Promise<Settled> {
  const line = at.run.reuse.prior.ofPhase(at.path);
  if (!line && at.run.reuse.prior.wasSkipped(at.path)) {
    return notExecuted(at, { status: 'skipped', reason: 'skipped in the last run' });
  }
  const output = line && at.run.io.outputs.link(line.output);
  if (!line || !output || line.masked) {
    const failure: Failure = {
      code: 'bad-input',
      message: line?.masked
        ? `the earlier output of ${at.path} held a secret and was not written down`
        : `there is no earlier output of ${at.path} to work with`,
      hint: 'Run the whole flow once with these arguments, or start further up.',
    };
    return notExecuted(at, { status: 'failed', reason: 'no earlier output', failure });
  }
  const { files, ...result } = resultIn({ ...line, output });
  if (files.length > 0) await at.run.reuse.outputFiles.restore(files, await coveringOutputs(at));
  const origin = { hit: 'run', ageMs: ageOf(at, result), reason: 'restored from the last run' } as const;
  return { ...NOT_EXECUTED, status: 'done', result: { ...result, files }, origin };
}
