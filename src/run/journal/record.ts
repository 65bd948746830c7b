import type { Failure } from '../../model/failure.js';
import type { Phase } from '../../model/flow.js';
import { mayBeCrossRun } from '../../model/kind.js';
import { countsOf, type ObservedCounts } from '../../model/observation.js';
import { type Acted, NO_USAGE, type PhaseOutcome, type ShownOutcome, type Status } from '../../model/outcome.js';
import type { PhaseContext, Policy } from '../context/phase-context.js';
import { isNewWork, keysOf, type Settled } from '../core/execution.js';
import { observedOf } from '../core/observation-union.js';
import { shownOutput } from '../core/output-folder.js';
import type { ResultLine } from './lines.js';
import type { LinePlace, Urgency } from './writer.js';

/** The part of a phase's context that recording needs. */
export interface RecordSite {
  readonly run: {
    readonly io: Pick<PhaseContext['run']['io'], 'journal' | 'secrets'>;
    readonly options: { readonly project: Pick<PhaseContext['run']['options']['project'], 'clock'> };
  };
  readonly path: string;
  readonly phase: Pick<Phase, 'id' | 'kind' | 'idempotent' | 'optional'>;
  readonly policy: Pick<Policy, 'scope'>;
  readonly newWork?: string;
}

/** The journal's line for a settled unit. */
export function recordUnit(at: RecordSite, unit: string, settled: Settled): LinePlace {
  return writeResult(at, settled, unit);
}

/** The journal's line for a settled phase. A reused one may be lost in a crash: it would be reused again. */
export function recordPhase(at: RecordSite, settled: Settled): LinePlace {
  const place = writeResult(at, settled, undefined);
  if (!at.phase.idempotent && settled.hit === null) at.run.io.journal.sync();
  return place;
}

/** The journal's line for a phase that did not run at all. */
export function recordUnrun(
  at: RecordSite,
  { status, reason, failure }: { readonly status: Status; readonly reason: string; readonly failure?: Failure },
): LinePlace {
  const now = at.run.options.project.clock.now();
  return at.run.io.journal.write(
    {
      type: 'phase',
      at: now,
      phase: at.path,
      kind: at.phase.kind,
      status,
      reason,
      hit: null,
      output: { text: '', json: null },
      attempts: 0,
      durationMs: 0,
      usage: NO_USAGE,
      failure,
    },
    'held',
  );
}

/** Lines of reused results are held back, for longer than those of results that were just made. */
function writeResult(at: RecordSite, settled: Settled, unit: string | undefined): LinePlace {
  return at.run.io.journal.write(resultLine(at, settled, unit), urgencyOf(settled));
}

function urgencyOf({ hit, kept }: Settled): Urgency {
  if (hit !== null) return 'held';
  return kept ? 'soon' : 'now';
}

type Draft = { -readonly [F in keyof ResultLine]: ResultLine[F] };

/** A warm run writes thousands of these, and most have only the fields of the literal. */
function resultLine(at: RecordSite, settled: Settled, unit: string | undefined): ResultLine {
  const { io, options } = at.run;
  const { secrets } = io;
  const executed = settled.hit === null;
  const line: Draft = {
    type: unit === undefined ? 'phase' : 'unit',
    at: options.project.clock.now(),
    phase: at.path,
    kind: at.phase.kind,
    unit,
    status: settled.status,
    reason: settled.reason,
    key: settled.key,
    runKey: settled.runKey,
    execution: settled.execution,
    hit: settled.hit,
    madeAt: executed ? undefined : settled.madeAt,
    output: settled.output,
    attempts: settled.attempts,
    durationMs: Math.round(settled.durationMs),
    usage: settled.usage,
    saved: settled.saved,
  };
  if (!executed || settled.cost.usage !== settled.usage) line.cost = settled.cost;
  // The entry of a kept result holds its identity already.
  if (executed && settled.identity && !settled.kept) line.identity = settled.identity;
  if (settled.shared) line.shared = true;
  if (settled.files.length > 0) line.files = settled.files;
  if (settled.model !== undefined) line.model = settled.model;
  if (settled.failure) line.failure = settled.failure;
  if (unit === undefined && isTolerated(at, settled)) line.optional = true;
  if (settled.items) line.items = settled.items;
  if (settled.inputs) line.inputs = settled.inputs;
  if (settled.facts !== undefined) line.facts = settled.facts;
  if (settled.seen) line.seen = settled.seen;
  const looked = lookedOf(settled);
  if (looked) line.observed = looked;
  if (settled.unkeepable !== undefined) line.unkeepable = settled.unkeepable;
  if (settled.remark !== undefined) line.remark = settled.remark;
  if (!at.phase.idempotent) line.idempotent = false;
  if (settled.effect) line.effect = settled.effect;
  if (!mayBeCrossRun(at.phase.kind)) line.deciding = true;
  return secrets.any ? withoutSecrets(line, secrets) : line;
}

function lookedOf({ hit, observed, seen }: Settled): ObservedCounts | undefined {
  return hit === null && observed ? countsOf(observed, seen?.set) : undefined;
}

function isTolerated({ phase }: RecordSite, { status }: Settled): boolean {
  return phase.optional && (status === 'failed' || status === 'blocked');
}

/** Masks texts and inputs. Identities are sealed already; a line with a changed output is `masked`. */
function withoutSecrets(line: ResultLine, secrets: PhaseContext['run']['io']['secrets']): ResultLine {
  const { reason, failure, inputs, facts, unkeepable, remark } = line;
  const output = secrets.maskOutput(line.output);
  return {
    ...line,
    ...(secrets.maskValue({ reason, failure, inputs, facts, unkeepable, remark } as never) as object),
    output,
    ...(output === line.output ? {} : { masked: true }),
  };
}

function hasActed({ phase }: RecordSite, { status, attempts }: Settled): Acted | undefined {
  if (phase.idempotent || !mayBeCrossRun(phase.kind)) return undefined;
  if (status === 'done') return 'done';
  return attempts > 0 ? 'failed' : undefined;
}

export function outcomeOf(at: RecordSite, settled: Settled): PhaseOutcome {
  return {
    id: at.phase.id,
    kind: at.phase.kind,
    status: settled.status,
    cacheHit: settled.hit,
    ageMs: settled.ageMs,
    shared: settled.shared,
    reason: settled.reason,
    key: settled.key,
    output: settled.output,
    files: settled.files,
    attempts: settled.attempts,
    durationMs: settled.durationMs,
    usage: settled.usage,
    saved: settled.saved,
    cost: settled.cost,
    model: settled.model,
    failure: settled.failure,
    optional: isTolerated(at, settled) ? true : undefined,
    items: settled.items,
    unkeepable: settled.unkeepable,
    observed: observedOf(settled),
    looked: lookedOf(settled),
    // A side effect stays done, even if a gate rejects its result.
    unitKeys: at.phase.idempotent ? keysOf(settled) : [],
    remark: settled.remark,
    acted: settled.acted ?? hasActed(at, settled),
    execution: settled.execution,
    kept: at.policy.scope === 'cross-run' && settled.unkeepable === undefined ? true : undefined,
    newWork: isNewWork(settled) ? at.phase.id : at.newWork,
    noWork: settled.noWork,
  };
}

/** What an event shows: without the keys of the parts, which only the engine needs and of which a map has thousands. */
export function shownOutcome({ looked, ...outcome }: PhaseOutcome, root: string): ShownOutcome {
  const output = shownOutput(outcome.output, root);
  return { ...outcome, output, unitKeys: undefined, cost: undefined, acted: undefined, observed: looked };
}
