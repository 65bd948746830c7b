import type { Phase } from '../../model/flow.js';
import { mayBeCrossRun } from '../../model/kind.js';
import type { Acted, Result, ShownOutcome } from '../../model/outcome.js';
import { sha256Hex } from '../../util/digest.js';
import type { PhaseContext, Policy } from '../context/phase-context.js';
import { isNewWork, keysOf, type PhaseOutcome, type Settled } from '../core/execution.js';
import { lookedOf } from '../core/observation-union.js';
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
  readonly done?: string;
}

/** The journal's line for a settled unit. */
export function recordUnit(at: RecordSite, unit: string, settled: Settled): LinePlace {
  return writeResult(at, settled, unit);
}

/** The journal's line for a settled phase. A reused one may be lost in a crash: it would be reused again. */
export function recordPhase(at: RecordSite, settled: Settled): LinePlace {
  const place = writeResult(at, settled, undefined);
  if (!at.phase.idempotent && settled.origin.hit === null) at.run.io.journal.sync();
  return place;
}

/** The journal's line for a phase that did not run at all. */
export function recordUnrun(at: RecordSite, settled: Settled): LinePlace {
  // A line with `idempotent: false` says that a side effect has begun.
  const site = { ...at, phase: { ...at.phase, idempotent: true } };
  return at.run.io.journal.write(resultLine(site, settled, undefined), 'held');
}

/** Lines of reused results are held back, for longer than those of results that were just made. */
function writeResult(at: RecordSite, settled: Settled, unit: string | undefined): LinePlace {
  const place = at.run.io.journal.write(resultLine(at, settled, unit), urgencyOf(settled));
  // Only its line says these from now on: the prompts of a hundred thousand items need not stay in memory.
  settled.identity = undefined;
  if (settled.status === 'done') settled.inputs = undefined;
  return place;
}

function urgencyOf({ origin, kept }: Settled): Urgency {
  if (origin.hit !== null) return 'held';
  return kept ? 'soon' : 'now';
}

type Draft = { -readonly [F in keyof ResultLine]: ResultLine[F] };

/** A warm run writes thousands of these, and most have only the fields of the literal. */
function resultLine(at: RecordSite, settled: Settled, unit: string | undefined): ResultLine {
  const { io, options } = at.run;
  const { secrets } = io;
  const { result, origin } = settled;
  const executed = origin.hit === null;
  const line: Draft = {
    type: unit === undefined ? 'phase' : 'unit',
    at: options.project.clock.now(),
    phase: at.path,
    kind: at.phase.kind,
    unit,
    status: settled.status,
    reason: origin.reason,
    key: result.key,
    runKey: settled.runKey,
    execution: result.execution,
    hit: origin.hit,
    madeAt: executed ? undefined : result.madeAt,
    output: result.output,
    attempts: settled.attempts,
    durationMs: Math.round(settled.durationMs),
    usage: settled.usage,
    saved: settled.saved,
  };
  if (!executed || result.cost.usage !== settled.usage) line.cost = result.cost;
  // The entry of a kept result holds its identity already.
  if (executed && settled.identity && !settled.kept) line.identity = settled.identity;
  if (origin.shared) line.shared = true;
  if (result.files.length > 0) line.files = result.files;
  if (result.model !== undefined) line.model = result.model;
  if (settled.failure) line.failure = settled.failure;
  if (unit === undefined && isTolerated(at, settled)) line.optional = true;
  if (result.items) line.items = result.items;
  if (settled.inputs) line.inputs = settled.inputs;
  if (result.facts !== undefined) line.facts = result.facts;
  if (result.seen) line.seen = result.seen;
  const looked = lookedOf(settled);
  if (looked) line.observed = looked;
  if (result.unkeepable !== undefined) line.unkeepable = result.unkeepable;
  if (settled.remark !== undefined) line.remark = settled.remark;
  if (!at.phase.idempotent) line.idempotent = false;
  if (settled.effect) line.effect = settled.effect;
  if (!mayBeCrossRun(at.phase.kind)) line.deciding = true;
  return secrets.any ? withoutSecrets(line, secrets) : line;
}

/** The result that a line was written from. */
export function resultIn(line: ResultLine): Result {
  const { key, output, model, facts, execution, unkeepable, items, seen, usage, durationMs } = line;
  const { madeAt = line.at, files = [], cost = { usage, durationMs } } = line;
  return { key, madeAt, output, cost, files, model, facts, execution, unkeepable, items, seen };
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

/** A settled phase in its flow. */
export function outcomeOf(at: RecordSite, settled: Settled): PhaseOutcome {
  const { id, kind, idempotent } = at.phase;
  const { status, failure, result, origin } = settled;
  const isFindable = at.policy.scope === 'cross-run' && status === 'done' && result.unkeepable === undefined;
  return {
    id,
    kind,
    settled,
    status,
    failure,
    result,
    origin,
    optional: isTolerated(at, settled) ? true : undefined,
    acted: settled.acted ?? hasActed(at, settled),
    keys: idempotent ? keysOf(settled) : [],
    findable: isFindable ? true : undefined,
    newWork: isNewWork(settled) ? id : at.newWork,
    done: at.done === undefined ? undefined : doneWith(at.done, settled, isFindable),
  };
}

/** A result that later runs find counts by what finds it, any other by its execution. */
function doneWith(above: string, { status, result }: Settled, isFindable: boolean): string {
  const { key, execution } = result;
  if (status === 'skipped') return above;
  return sha256Hex(`${above} ${(isFindable ? key : execution) ?? key ?? status}`);
}

/** What an event shows of an outcome. */
export function shownOutcome(outcome: PhaseOutcome, root: string): ShownOutcome {
  const { result, origin, settled } = outcome;
  return {
    id: outcome.id,
    kind: outcome.kind,
    status: outcome.status,
    cacheHit: origin.hit,
    ageMs: origin.ageMs,
    shared: origin.shared,
    reason: origin.reason,
    key: result.key,
    output: shownOutput(result.output, root),
    files: result.files,
    attempts: settled.attempts,
    durationMs: settled.durationMs,
    usage: settled.usage,
    saved: settled.saved,
    model: result.model,
    failure: outcome.failure,
    optional: outcome.optional,
    items: result.items,
    unkeepable: result.unkeepable,
    observed: lookedOf(settled),
    remark: settled.remark,
    execution: result.execution,
    kept: outcome.findable,
    newWork: outcome.newWork,
    noWork: settled.noWork,
  };
}
