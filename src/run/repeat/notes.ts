import type { Settled } from '../execution.js';
import type { Probe } from '../identify.js';
import type { PhaseContext } from '../phase-context.js';

/** One settled phase, with the files that its result was made from. */
export interface Note {
  readonly at: PhaseContext;
  readonly settled: Settled;
  /** Relative paths with the digest of each, null where there was none. */
  readonly inputs: readonly (readonly [path: string, digest: string | null])[];
  readonly ttlMs?: number;
}

/** What a run notes as it goes, in case that all of it could be found unchanged the next time. */
export class RepeatNotes {
  readonly notes = new Map<string, Note>();

  /** A result whose inputs cannot be named as files is not noted, and the run has no sheet then. */
  add(at: PhaseContext, settled: Settled, facts: NotedFacts): void {
    if (at.scope.path !== '' || facts.unit !== undefined || !isPlain(at, settled)) return;
    const inputs = inputsOf(facts);
    if (inputs) this.notes.set(at.phase.id, { at, settled, inputs, ttlMs: at.policy.ttlMs });
  }
}

export interface NotedFacts {
  readonly unit: string | undefined;
  readonly probes: readonly Probe[];
  /** Files besides the declared ones; undefined when they cannot be named. */
  readonly reads: readonly (readonly [path: string, digest: string])[] | undefined;
}

/** Nothing about it but its text has to be brought back, and it is found by its key alone. */
function isPlain({ phase, policy, round }: PhaseContext, settled: Settled): boolean {
  return (
    settled.status === 'done' &&
    settled.hit !== 'run' &&
    policy.scope === 'cross-run' &&
    policy.readStore &&
    policy.writeStore &&
    round === 0 &&
    phase.idempotent &&
    phase.outputs.length === 0 &&
    phase.cwd === undefined &&
    settled.files.length === 0 &&
    settled.key !== undefined &&
    settled.key === settled.runKey &&
    settled.unkeepable === undefined
  );
}

function inputsOf({ probes, reads }: NotedFacts): Note['inputs'] | undefined {
  if (reads === undefined) return undefined;
  const inputs: (readonly [string, string | null])[] = [...reads];
  for (const { found, ownOutputs } of probes) {
    const { entry, value } = found;
    if (!entry.startsWith('file:') || ownOutputs.length > 0) return undefined;
    if (value !== null && typeof value !== 'string') return undefined;
    inputs.push([entry.slice('file:'.length).trim(), value]);
  }
  return inputs;
}
