import { canonicalEncode } from '../../util/canonical.js';
import type { Settled } from '../execution.js';
import type { IdentityParts, Probe } from '../identify.js';
import type { PhaseContext } from '../phase-context.js';
import type { Note } from './notes.js';

/** What a result was made from. */
export interface Made {
  readonly unit: string | undefined;
  readonly probes: readonly Probe[];
  readonly reads: IdentityParts['reads'];
}

/** A result whose inputs cannot all be compared the next time is not noted, and the run has no sheet then. */
export function takeNote(at: PhaseContext, settled: Settled, made: Made): void {
  const { run, scope, phase, policy } = at;
  if (!run.notes || scope.path !== '' || made.unit !== undefined || !isPlain(at, settled)) return;
  const from = madeFrom(made);
  if (!from) return;
  const { hit, madeAt, output, model, cost, facts } = settled;
  run.notes.set(phase.id, {
    phase,
    key: settled.key!,
    hit,
    madeAt,
    output,
    model,
    cost,
    facts,
    inputs: from.inputs,
    world: from.world,
    ttlMs: policy.ttlMs,
    notedAt: run.options.project.clock.now(),
  });
}

/** Nothing about it but its text has to be brought back, and it is found by its key alone. */
function isPlain({ phase, policy, round }: PhaseContext, settled: Settled): boolean {
  return (
    settled.status === 'done' &&
    settled.hit !== 'run' &&
    policy.scope === 'cross-run' &&
    policy.readStore &&
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

/** Variables may hold secrets, which are not written; commands would be started twice when something else has changed. */
const COMPARED = /^(?:glob!?|git):/;

function madeFrom({ probes, reads }: Made): Pick<Note, 'inputs' | 'world'> | undefined {
  if (reads === undefined) return undefined;
  const inputs: (readonly [string, string | null])[] = [...reads];
  const world: [string, string][] = [];
  for (const { found, ownOutputs } of probes) {
    const { entry, value } = found;
    if (ownOutputs.length > 0) return undefined;
    if (COMPARED.test(entry)) world.push([entry, canonicalEncode(value)]);
    else if (!entry.startsWith('file:') || (value !== null && typeof value !== 'string')) return undefined;
    else inputs.push([entry.slice('file:'.length).trim(), value]);
  }
  return { inputs, world };
}
