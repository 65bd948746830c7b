import type { Failure } from '../../model/failure.js';
import type { JsonObject } from '../../model/json.js';
import { mayBeCrossRun } from '../../model/kind.js';
import type { Claim, Store } from '../../store/store.js';
import { sha256Hex } from '../../util/digest.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Execution, failedBefore, type Settled } from '../core/execution.js';
import { MIGHT_RUN, WOULD_BE_SHARED, WOULD_RUN } from '../core/forecast-outcome.js';
import type { ReusedWork } from '../core/made-phase.js';
import type { Travelling } from '../core/unit-job.js';
import { effectOf } from '../effects/effect.js';
import { ruleEffect } from '../effects/rule.js';
import type { LinePlace } from '../journal/writer.js';
import { announce } from './announce.js';
import { keptOrReused } from './bring-back.js';
import { type AtOnce, type LookUp, lookAtOnce, lookUp, NOTHING } from './from-store.js';
import { fromThisRun } from './from-this-run.js';
import {
  declaredOutputs,
  type Identified,
  type IdentityParts,
  identify,
  inputsMoved,
  type Known,
  references,
  type Unidentified,
} from './identify.js';
import { keepOutput, keepResult } from './keep.js';
import { notKept, whyNotKept } from './not-kept.js';
import { orShared } from './or-shared.js';
import { declaresInputs } from './reuse-rules.js';
import { withSeen } from './seen-inputs.js';
import {
  type Found,
  frozen,
  isSideEffect,
  newExecution,
  ran,
  type SideEffect,
  shortest,
  unidentified,
} from './settle.js';
import { whereDone } from './travels.js';
import { beginWatch } from './watch-inputs.js';
import { whyEntered, whyMissed } from './why-missed.js';

/** Something that can be executed, or reused from an earlier execution. */
export interface Work {
  /** Label of an item, a branch or an iteration; undefined when the work is the phase itself. */
  readonly unit?: string;
  readonly parts: IdentityParts;
  /** The parts after the execution, where executing may change what the work is made from. */
  partsInTheEnd?(): IdentityParts;
  /** Not shared between scopes: a decision, or a side effect that each row must have for itself. */
  readonly private: boolean;
  /** With `beginsItself`, it calls `begin` once it has a slot, and does not start if that returns a failure. */
  execute(begin: () => Failure | undefined): Promise<Execution>;
  readonly beginsItself?: true;
  /** What another machine needs to do the same; absent where only this one can. */
  travelling?(): Travelling;
  /** Writes the journal's line; called once, for executed and for reused results. */
  record(settled: Settled): LinePlace;
}

/** Work that has an identity, in the phase that it belongs to. */
interface Job<F extends Found = Found> {
  readonly at: PhaseContext;
  readonly work: Work;
  readonly found: F;
}

/**
 * The life of a result on one page: identify it; reuse it from this run, the continued run or the store; wait for a
 * process that computes it now; else execute; keep what may be kept; record.
 */
export function memoized(at: PhaseContext, work: Work): Settled | Promise<Settled> {
  const pending = identify(at, work.parts, work.unit);
  return pending instanceof Promise
    ? pending.then((known) => reusedOrExecuted(at, work, known))
    : reusedOrExecuted(at, work, pending);
}

/** Answers at once when the store has the result and nothing has to be awaited: most of a warm run. */
function reusedOrExecuted(at: PhaseContext, work: Work, known: Identified): Settled | Promise<Settled> {
  if ('unidentified' in known) return executeUnkept(at, work, known);
  const found = foundAs(at, work, known);
  if (isSideEffect(found)) return onceOnly({ at, work, found });
  const job: Job = { at, work, found };
  const looked = lookAtOnce(at, found);
  if (looked && 'settled' in looked) return finish(job, looked.settled);
  return waitOrExecute(job, { looked, readRun: at.policy.readRun });
}

/** Executes a side effect once, unless a person says otherwise. */
async function onceOnly({ at, work, found }: Job<SideEffect>): Promise<Settled> {
  const ruling = await ruleEffect(at, { unit: work.unit, effect: found.effect, runKey: found.runKey });
  if (ruling.go === 'start') {
    const { over, again } = ruling;
    const readRun = at.policy.readRun && !again;
    return waitOrExecute({ at, work, found: { ...found, over } }, { looked: undefined, readRun });
  }
  const settled =
    ruling.go === 'stop'
      ? ran(at, found, { execution: failedBefore(ruling.failure), reason: 'in doubt' })
      : await keptOrReused(at, found, ruling);
  return finish({ at, work, found }, settled);
}

function foundAs(at: PhaseContext, work: Work, known: Known): Found {
  const { identity, length, key, probes } = known;
  let written: JsonObject | undefined;
  return {
    identity,
    key,
    runKey: runKeyOf(at, key, work),
    probes,
    ttlMs: work.parts.ttlMs,
    closed: work.parts.closed,
    // Work that waits for a slot acts by itself; work that consists of other work acts through it.
    effect: !at.phase.idempotent && work.beginsItself ? effectOf(at, work.unit, work.parts) : undefined,
    // Built once and only on demand: with a glob over many files it is large.
    stored: () => {
      written ??= at.run.reuse.storedIdentity({ ...identity, references: references(at) }, length);
      return written;
    },
  };
}

/** A gate that sent work back has judged other work than it began with; its key must say so to what depends on it. */
async function foundInTheEnd({ at, work, found }: Job, parts: IdentityParts): Promise<Found> {
  const known = await identify(at, parts, work.unit);
  return 'unidentified' in known || known.key === found.key ? found : foundAs(at, work, known);
}

async function waitOrExecute(
  job: Job,
  { looked, readRun }: { readonly looked: AtOnce | undefined; readonly readRun: boolean },
): Promise<Settled> {
  const { at, found } = job;
  const { run, policy } = at;
  try {
    const shares = readRun || policy.sharesRun;
    const later = looked && 'later' in looked ? looked.later : undefined;
    // As where the key alone decides: the store is asked before the run that is continued.
    const kept = later === 'has path sets' ? await lookUp(at, found) : undefined;
    if (kept && 'settled' in kept) return finish(job, kept.settled);
    const isInStore = later === 'has files';
    const looking = shares ? fromThisRun(at, found, isInStore) : NOTHING;
    const earlier = looking instanceof Promise ? await looking : looking;
    if ('settled' in earlier) return finish(job, earlier.settled);
    if (shares && run.reuse.shared.expects(found.runKey)) {
      return finish(job, ran(at, found, { execution: WOULD_BE_SHARED, reason: 'computed once in this run' }));
    }
    const asked = { looked: looked && 'later' in looked ? kept : looked, refused: earlier.miss };
    return finish(job, await fromStoreOrExecution(job, asked));
  } catch (error) {
    // A bug of ours fails this phase; others that wait for its result must not wait forever.
    run.reuse.shared.abandon(found.runKey);
    throw error;
  }
}

/**
 * The key that finds a result again in this run. Work that declares all its inputs is the same everywhere. Rows and
 * items share other work with their siblings only: between two places of a flow, what it reads may have changed.
 */
function runKeyOf(at: PhaseContext, key: string, { private: isPrivate, parts }: Work): string {
  const { path } = at.scope;
  if (isPrivate) return sha256Hex(`${key}@${path}`);
  if (path === '' || at.policy.scope === 'cross-run') return key;
  // What was done in its own row may have changed files that it reads without saying so.
  const isOpen = !parts.closed && !declaresInputs(at);
  const after = isOpen && at.done ? `@${at.done}` : '';
  const place = path.replace(/^rows\/[^/]*\/?/, '').replaceAll(/\[[^\]]*\]/g, '[]') + after;
  return place === '' ? key : sha256Hex(`${key}@${place}`);
}

interface Asked {
  readonly looked: LookUp | undefined;
  readonly refused: string | undefined;
}

function fromStoreOrExecution(job: Job, asked: Asked): Settled | Promise<Settled> {
  const { at, work, found } = job;
  const { store } = at.run.reuse;
  if (store && at.policy.readStore) return storedOrExecuted(job, store, asked);
  const reason = whyMissed(at, found, { unit: work.unit, refused: asked.refused });
  return notToRun(job, reason) ?? executeAndKeep(job, reason);
}

async function storedOrExecuted(job: Job, store: Store, { looked, refused }: Asked): Promise<Settled> {
  const { at, work, found } = job;
  const { run } = at;
  const local = looked ?? (await lookUp(at, found));
  const hit = store.fetch ? await orShared(at, found, local) : local;
  if ('settled' in hit) return hit.settled;
  const reason = whyMissed(at, found, { unit: work.unit, refused: hit.miss ?? refused });
  const ended = notToRun(job, reason);
  if (ended) return ended;
  // If another process or machine computes it now, wait for that without a slot, then look again.
  for (;;) {
    const claimed = await store.claim(found.key, {
      signal: at.signal,
      onWait: (holder) => run.io.emit({ type: 'phase-waiting', phase: at.path, for: holder }),
    });
    if ('claim' in claimed) return executeAndKeep(job, reason, claimed.claim);
    if ('unavailable' in claimed) return executeAndKeep(job, reason);
    // The other process may have changed files that fingerprints read.
    run.reuse.fingerprints.touched();
    const again = await lookUp(at, found);
    const second = claimed.elsewhere ? await orShared(at, found, again) : again;
    if ('settled' in second) return second.settled;
    if (at.signal.aborted) return executeAndKeep(job, reason);
  }
}

/** How work ends that has no result to reuse, and yet may not run: with `--frozen`, or in a forecast. */
function notToRun(job: Job, reason: string): Settled | undefined {
  const { at, found } = job;
  if (mustBeReused(at)) return ran(at, found, { execution: frozen(at, reason), reason });
  return at.run.options.forecast ? wouldRun(job, reason) : undefined;
}

/** With workers, a forecast also says where. */
function wouldRun({ at, work, found }: Job, reason: string): Settled {
  const travelling = at.run.options.workers && work.travelling?.();
  const where = travelling ? whereDone(at, found, travelling) : '';
  return ran(at, found, { execution: WOULD_RUN, reason: reason + where });
}

/** With `--frozen`: a phase kept across runs, by itself or as part of a flow that is kept as a whole. */
function mustBeReused({ run, policy, scope, phase }: PhaseContext): boolean {
  if (!run.options.frozen) return false;
  return policy.scope === 'cross-run' || (scope.kept !== undefined && mayBeCrossRun(phase.kind));
}

async function executeAndKeep(job: Job, reason: string, claim?: Claim): Promise<Settled> {
  const { at, work, found } = job;
  const { run, policy } = at;
  let isPut = false;
  try {
    const start = announce(at, work, { runKey: found.runKey, reason, effect: found.effect, over: found.over });
    const away = run.options.workers && (await elsewhere(job, reason, start.begin));
    if (away) return away;
    const watching = beginWatch(at, found);
    const watch = watching && (await watching);
    const executed = start.ended(await work.execute(start.begin));
    const execution = at.phase.outputs.length === 0 ? executed : await withFiles(at, work, executed);
    const parts = work.partsInTheEnd?.();
    const last = parts ? await foundInTheEnd(job, parts) : found;
    const ended = (made: Execution) => ran(at, last, { execution: made, reason: made.noWork ? ALL_SKIPPED : reason });
    if (execution.status !== 'done') return ended(execution);
    const seen = watch ? await withSeen(at, execution, { found, watch }) : execution;
    const moving = inputsMoved(at, work.parts, found.probes);
    const moved = moving && (await moving);
    // Nobody knows which state of the inputs it read. A side effect is not repeated for that.
    if (moved !== undefined && at.phase.idempotent) {
      return notKept({ ...ended({ ...seen, unkeepable: moved }), runKey: undefined }, moved);
    }
    const settled = ended(seen);
    if (!policy.writeStore || !run.reuse.store) return settled;
    const { result } = settled;
    const unkept = whyNotKept(at, work, result) ?? keepOutput(run.reuse.store, result.output);
    if (unkept !== undefined) return notKept(settled, unkept);
    isPut = claim !== undefined;
    const put = keepResult(at, { found, settled, claim });
    if (!put.stored) return put.isReported ? settled : notKept(settled, put.reason);
    if (policy.readStore) settled.kept = true;
    return settled;
  } finally {
    if (claim && !isPut) claim.release();
  }
}

/** What another machine made of it, where one is asked. */
async function elsewhere({ at, work, found }: Job, reason: string, begin: () => unknown): Promise<Settled | undefined> {
  const travelling = at.run.options.workers && work.travelling?.();
  if (!travelling) return undefined;
  const { doneElsewhere } = await import('./away.js');
  return doneElsewhere({ at, found, unit: work.unit, travelling, reason, begin });
}

/** The reason of a nested flow in which nothing was executed or reused. */
const ALL_SKIPPED = 'all of it was skipped';

/** Executes work that has no identity; its result is not found again. */
async function executeUnkept(at: PhaseContext, work: Work, known: Unidentified): Promise<Settled> {
  const { run } = at;
  const reason = at.policy.scope === 'cross-run' ? `not cached this time: ${known.unidentified}` : whyEntered(at);
  const { begin } = announce(at, work, { reason });
  const { container, broken } = work.parts;
  const execute = async () => {
    if (run.options.forecast && !container && !broken) return known.unasked ? MIGHT_RUN : WOULD_RUN;
    return withFiles(at, work, mustBeReused(at) && !container ? frozen(at, reason) : await work.execute(begin));
  };
  const { key = sha256Hex(`${run.runId}:${at.path}:${work.unit ?? ''}:${at.round}`), ...execution } = await execute();
  const name = execution.execution ?? newExecution(at);
  const why = execution.noWork ? ALL_SKIPPED : execution.reused ? 'all of it was reused' : reason;
  const settled = unidentified(at, { ...execution, key, execution: name }, why);
  work.record(settled);
  return settled;
}

/** Keeps the files that the work declares, so that a later run can restore them. */
async function withFiles(at: PhaseContext, work: Work, execution: Execution): Promise<Execution> {
  if (execution.status !== 'done' || at.phase.outputs.length === 0) return execution;
  const patterns = declaredOutputs(at, work.unit, work.parts.variables);
  return patterns.length === 0 ? execution : at.run.reuse.outputFiles.capture(patterns, execution);
}

/** Records the result and reports it to all that wait for it. */
function finish(job: Job, settled: Settled): Settled {
  const { at, work, found } = job;
  const place = work.record(settled);
  reportMade(job, settled);
  if (settled.origin.hit === 'cross-run') at.run.options.onReused?.(reusedWork(job, settled));
  if (settled.saved) at.run.limits.ledger.save(settled.saved);
  const reusable = settled.status === 'done' && settled.runKey !== undefined;
  const runKey = settled.runKey ?? found.runKey;
  if (found.effect && settled.status === 'done') {
    at.run.reuse.effects.keepOwn(at.run.reuse.effects.nameOf(at.path, found.effect.unit), place);
  }
  if (at.run.options.forecast) {
    // A dry run makes nothing that could be read back: the next phase that asks looks in the store again.
    at.run.reuse.shared.abandon(found.runKey);
    if (settled.failure?.forecast === 'would-run') at.run.reuse.shared.expect(runKey);
    return settled;
  }
  if (runKey !== found.runKey) at.run.reuse.shared.abandon(found.runKey);
  at.run.reuse.shared.finish(runKey, settled, reusable ? place : undefined);
  return settled;
}

function reusedWork({ at, work, found }: Job, settled: Settled): ReusedWork {
  const { phase, path } = at;
  const isSingle = work.beginsItself === true;
  const again = async () => {
    const watch = await beginWatch(at, found);
    const made = await work.execute(() => undefined);
    const execution = watch && made.status === 'done' ? await withSeen(at, made, { found, watch }) : made;
    return ran(at, found, { execution, reason: 'audited' });
  };
  return { phase, path, unit: work.unit, identity: found.identity, settled, isSingle, again };
}

/** The snapshot collects what the run's own phases made or reused. */
function reportMade({ at, work: { unit, parts }, found: { probes, ttlMs } }: Job, settled: Settled): void {
  const { onMade } = at.run.options;
  if (!onMade || unit !== undefined || at.scope.path !== '') return;
  onMade({
    phase: at.phase,
    settled,
    fingerprints: probes.map((probe) => probe.found),
    reads: parts.reads,
    hasEnvironment: parts.env !== undefined && Object.keys(parts.env).length > 0,
    ttlMs: shortest(at.policy.ttlMs, ttlMs),
  });
}
