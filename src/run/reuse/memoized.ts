import type { Failure } from '../../model/failure.js';
import type { JsonObject } from '../../model/json.js';
import { mayBeCrossRun } from '../../model/kind.js';
import type { Claim, Entry } from '../../store/store.js';
import { sha256Hex } from '../../util/digest.js';
import type { PhaseContext } from '../context/phase-context.js';
import { type Execution, failedBefore, type Settled } from '../core/execution.js';
import { MIGHT_RUN, WOULD_BE_SHARED, WOULD_RUN } from '../core/forecast-outcome.js';
import { effectOf } from '../effects/effect.js';
import { ruleEffect } from '../effects/rule.js';
import type { Effect, ResultLine } from '../journal/lines.js';
import type { LinePlace } from '../journal/writer.js';
import { announce } from './announce.js';
import { bringBack, keptOrReused } from './bring-back.js';
import {
  declaredOutputs,
  type Identified,
  type IdentityParts,
  identify,
  inputsMoved,
  type Known,
  references,
} from './identify.js';
import { refusesEarlier } from './reuse-rules.js';
import { entryOf, type Found, fromEntry, fromLine, frozen, ran, reusedAgain, shortest } from './settle.js';
import { whyEntered, whyMissed } from './why-missed.js';

/** Something that can be executed, or taken from where it was executed before. */
export interface Work {
  /** Label of an item, a branch or an iteration; undefined when the work is the phase itself. */
  readonly unit?: string;
  readonly parts: IdentityParts;
  /** The same when it is done, where executing it may change what it is made from. */
  partsInTheEnd?(): IdentityParts;
  /** Only this scope's: a decision, or a side effect that each row must have for itself. */
  readonly private: boolean;
  /** Calls `begin` when it gets to it, if it has to wait for its turn first; not if that says why it may not. */
  execute(begin: () => Failure | undefined): Promise<Execution>;
  readonly beginsItself?: true;
  /** Writes the journal's line; runs once, for executed and for reused results. */
  record(settled: Settled): LinePlace;
}

/**
 * The life of a result on one page: identify, take it from this run or the one continued, take it from the store, wait
 * for whoever is computing it, else execute; keep what may be kept; record.
 */
export function memoized(at: PhaseContext, work: Work): Settled | Promise<Settled> {
  const pending = identify(at, work.parts, work.unit);
  return pending instanceof Promise
    ? pending.then((known) => reusedOrExecuted(at, work, known))
    : reusedOrExecuted(at, work, pending);
}

/** At once when the store has it and nobody has to be asked first: most of a warm run. */
function reusedOrExecuted(at: PhaseContext, work: Work, known: Identified): Settled | Promise<Settled> {
  if ('unidentified' in known) return executeUnkept(at, work, known.unidentified, known.unasked);
  const found = foundAs(at, work, known);
  if (found.effect) return onceOnly(at, work, found, found.effect);
  const looked = lookAtOnce(at, found);
  if (looked && 'settled' in looked) return finish(at, work, found, looked.settled);
  return waitOrExecute(at, work, found, { looked, readRun: at.policy.readRun });
}

/** A side effect: done once, unless a person says otherwise. */
async function onceOnly(at: PhaseContext, work: Work, found: Found, effect: Effect): Promise<Settled> {
  const ruling = await ruleEffect(at, { unit: work.unit, effect, runKey: found.runKey });
  if (ruling.go === 'start') {
    const { over, again } = ruling;
    return waitOrExecute(at, work, { ...found, over }, { looked: undefined, readRun: at.policy.readRun && !again });
  }
  const settled =
    ruling.go === 'stop'
      ? ran(at, found, failedBefore(ruling.failure), 'in doubt')
      : await keptOrReused(at, found, effect, ruling);
  return finish(at, work, found, settled);
}

function foundAs(at: PhaseContext, work: Work, known: Known): Found {
  const { identity, length, key, probes } = known;
  let written: JsonObject | undefined;
  return {
    identity,
    key,
    runKey: runKeyOf(at, key, work.private),
    probes,
    ttlMs: work.parts.ttlMs,
    ...(work.parts.closed && { closed: true }),
    // Whatever waits for its turn acts by itself; what consists of others acts through them.
    ...(!at.phase.idempotent && work.beginsItself && { effect: effectOf(at, work.unit, work.parts) }),
    // Asked for by the reason of a miss, the journal and the entry; of a glob over many files it is no small thing.
    stored: () => {
      written ??= at.run.reuse.storedIdentity({ ...identity, references: references(at) }, length);
      return written;
    },
  };
}

/**
 * A gate that has sent work back has judged something else in the end than what it began with, and what depends on it
 * must know.
 */
async function foundInTheEnd(at: PhaseContext, work: Work, parts: IdentityParts, found: Found): Promise<Found> {
  const known = await identify(at, parts, work.unit);
  return 'unidentified' in known || known.key === found.key ? found : foundAs(at, work, known);
}

async function waitOrExecute(
  at: PhaseContext,
  work: Work,
  found: Found,
  { looked, readRun }: { readonly looked: AtOnce | undefined; readonly readRun: boolean },
): Promise<Settled> {
  const { run, policy } = at;
  try {
    const shares = readRun || policy.sharesRun;
    const isInStore = looked !== undefined && 'hasFiles' in looked;
    const earlier = shares ? await fromThisRun(at, found, isInStore) : NOTHING;
    if ('settled' in earlier) return finish(at, work, found, earlier.settled);
    if (shares && run.reuse.shared.expects(found.runKey)) {
      return finish(at, work, found, ran(at, found, WOULD_BE_SHARED, 'computed once in this run'));
    }
    return finish(
      at,
      work,
      found,
      await fromStoreOrExecution(at, work, found, { looked: isInStore ? undefined : looked, refused: earlier.miss }),
    );
  } catch (error) {
    // A bug of ours fails this phase; others that wait for its result must not wait for good.
    run.reuse.shared.abandon(found.runKey);
    throw error;
  }
}

/**
 * Under which name a result is found again in this run. What declares all that it is made from means the same
 * everywhere; other work may be shared among rows and items that stand side by side, but not between two places of a
 * flow: what happened in between may have changed what it reads.
 */
function runKeyOf(at: PhaseContext, key: string, isPrivate: boolean): string {
  const { path } = at.scope;
  if (isPrivate) return sha256Hex(`${key}@${path}`);
  if (path === '' || at.policy.scope === 'cross-run') return key;
  const place = path.replace(/^rows\/[^/]*\/?/, '').replaceAll(/\[[^\]]*\]/g, '[]');
  return place === '' ? key : sha256Hex(`${key}@${place}`);
}

/** `miss`: what speaks against the result that is there; undefined when there is none. */
type LookUp = { readonly settled: Settled } | { readonly miss: string | undefined };

/** The store has it, with files that are yet to be restored. */
type AtOnce = LookUp | { readonly hasFiles: true };

const NOTHING = { miss: undefined };

/**
 * In the store, at once: nobody in this run has to do with the result, so nothing is waited for and nobody can come in
 * between. Undefined where the store is not asked, or not yet.
 */
function lookAtOnce(at: PhaseContext, found: Found): AtOnce | undefined {
  const { run, policy } = at;
  if (!policy.readStore || !run.reuse.store || (policy.readRun && run.reuse.shared.knows(found.runKey)))
    return undefined;
  const got = inStore(at, found);
  if ('miss' in got) return got;
  return got.entry.files.length === 0 ? { settled: fromEntry(got.entry, found, got.now) } : { hasFiles: true };
}

/**
 * From an execution of this run (finished, or under way in another row), or from the run that this one continues. When
 * there is none, the work is announced in the same breath, so that of two rows that ask at once only one computes. What
 * the store has is not looked for in the run that is continued.
 */
async function fromThisRun(at: PhaseContext, found: Found, isInStore: boolean): Promise<LookUp> {
  const { run } = at;
  for (let under = run.reuse.shared.underWay(found.runKey); under; under = run.reuse.shared.underWay(found.runKey)) {
    const settled = await under;
    if (settled) return { settled: reusedAgain(at, settled) };
  }
  const recent = run.reuse.shared.recent(found.runKey);
  if (recent) return { settled: reusedAgain(at, recent) };
  const known = recorded(at, found, isInStore);
  run.reuse.shared.begin(found.runKey);
  if ('miss' in known) return known;
  const problem = await bringBack(at, found, known.line.files ?? []);
  return problem === undefined ? { settled: fromLine(at, known.line) } : { miss: problem };
}

function recorded(
  at: PhaseContext,
  { runKey, ttlMs, closed }: Found,
  isInStore: boolean,
): { readonly line: ResultLine } | { readonly miss: string | undefined } {
  const { run } = at;
  const place = run.reuse.shared.place(runKey);
  const line = place
    ? run.io.readBack(place)
    : at.policy.sharesRun || isInStore
      ? undefined
      : run.reuse.prior.find(runKey);
  // A side effect was looked for by its place already.
  if (!line || line.effect) return NOTHING;
  if (line.masked && at.phase.idempotent) return { miss: 'its output held a secret and was not written down' };
  const refused = place ? undefined : refusesEarlier(at, line, { ttlMs, closed });
  return refused === undefined ? { line } : { miss: refused };
}

async function fromStoreOrExecution(
  at: PhaseContext,
  work: Work,
  found: Found,
  { looked, refused }: { readonly looked: LookUp | undefined; readonly refused: string | undefined },
): Promise<Settled> {
  const { run, policy } = at;
  const {
    reuse: { store },
  } = run;
  if (store && policy.readStore) {
    const hit = looked ?? (await lookUp(at, found));
    if ('settled' in hit) return hit.settled;
    const reason = whyMissed(at, work.unit, found, hit.miss ?? refused);
    if (mustBeReused(at)) return ran(at, found, frozen(at, reason), reason);
    if (run.options.forecast) return ran(at, found, WOULD_RUN, reason);
    // Whoever computes it now is waited for, without holding a slot; then there is something to look up.
    for (;;) {
      const claimed = await store.claim(found.key, {
        signal: at.signal,
        onWait: (holder) => run.io.emit({ type: 'phase-waiting', phase: at.path, for: holder }),
      });
      if ('claim' in claimed) return executeAndKeep(at, work, found, reason, claimed.claim);
      if ('unavailable' in claimed) return executeAndKeep(at, work, found, reason, undefined);
      // Whoever computed it may have changed files that others look at.
      run.reuse.fingerprints.touched();
      const second = await lookUp(at, found);
      if ('settled' in second) return second.settled;
      if (at.signal.aborted) return executeAndKeep(at, work, found, reason, undefined);
    }
  }
  const reason = whyMissed(at, work.unit, found, refused);
  if (mustBeReused(at)) return ran(at, found, frozen(at, reason), reason);
  if (run.options.forecast) return ran(at, found, WOULD_RUN, reason);
  return executeAndKeep(at, work, found, reason, undefined);
}

/** With `--frozen`: a phase that is kept across runs, by itself or as part of a flow that could not be looked up whole. */
function mustBeReused({ run, policy, scope, phase }: PhaseContext): boolean {
  if (!run.options.frozen) return false;
  return policy.scope === 'cross-run' || (scope.kept !== undefined && mayBeCrossRun(phase.kind));
}

async function lookUp(at: PhaseContext, found: Found): Promise<LookUp> {
  const got = inStore(at, found);
  if ('miss' in got) return got;
  const problem = await bringBack(at, found, got.entry.files);
  if (problem !== undefined) return { miss: problem };
  return { settled: fromEntry(got.entry, found, got.now) };
}

function inStore(at: PhaseContext, found: Found): { entry: Entry; now: number } | { miss: string | undefined } {
  const now = at.run.options.project.clock.now();
  const ttlMs = shortest(at.policy.ttlMs, found.ttlMs);
  const got = at.run.reuse.store!.get(found.key, { ttlMs, now });
  if ('miss' in got) return { miss: got.miss.code === 'absent' ? undefined : got.miss.reason };
  return { entry: got.entry, now };
}

async function executeAndKeep(
  at: PhaseContext,
  work: Work,
  found: Found,
  reason: string,
  claim: Claim | undefined,
): Promise<Settled> {
  const { run, policy } = at;
  let ended = false;
  try {
    const start = announce(at, work, { runKey: found.runKey, reason, effect: found.effect, over: found.over });
    const execution = await withFiles(at, work, start.ended(await work.execute(start.begin)));
    const parts = work.partsInTheEnd?.();
    const why = execution.taken ? ALL_SKIPPED : reason;
    const settled = ran(at, parts ? await foundInTheEnd(at, work, parts, found) : found, execution, why);
    if (execution.status !== 'done') return settled;
    const moved = await inputsMoved(at, work.parts, found.probes);
    // Nobody can say which of the two it was made from; what has taken effect in the world is not repeated for that.
    if (moved !== undefined && at.phase.idempotent) {
      return notKept({ ...settled, runKey: undefined, unkeepable: moved }, moved);
    }
    if (!policy.writeStore || !run.reuse.store) return settled;
    const unkept = execution.unkeepable ?? secretIn(at, execution) ?? untoldOutputs(at, work);
    if (unkept !== undefined) return notKept(settled, unkept);
    const entry = entryOf(at, found, execution, settled.madeAt);
    ended = claim !== undefined;
    const put = claim ? claim.put(entry) : run.reuse.store.put(entry);
    if (!put.stored) return put.isTold ? settled : notKept(settled, put.reason);
    return policy.readStore ? { ...settled, kept: true } : settled;
  } finally {
    if (claim && !ended) claim.release();
  }
}

/** Of a nested flow; whoever takes something as done does not execute it. */
const ALL_SKIPPED = 'all of it was skipped';

async function executeUnkept(at: PhaseContext, work: Work, why: string, unasked = false): Promise<Settled> {
  const { run } = at;
  const reason = at.policy.scope === 'cross-run' ? `not cached this time: ${why}` : whyEntered(at);
  const random = sha256Hex(`${run.runId}:${at.path}:${work.unit ?? ''}:${at.round}`);
  const found: Found = { identity: undefined as never, key: random, runKey: random, probes: [], stored: () => ({}) };
  const { begin } = announce(at, work, { reason });
  if (run.options.forecast && work.parts.container !== true && work.parts.broken !== true) {
    const settled = ran(at, found, unasked ? MIGHT_RUN : WOULD_RUN, reason);
    work.record(settled);
    return settled;
  }
  const refused = mustBeReused(at) && work.parts.container !== true;
  const execution = await withFiles(at, work, refused ? frozen(at, reason) : await work.execute(begin));
  const settled: Settled = {
    ...ran(at, found, execution, reason),
    key: execution.key ?? random,
    runKey: undefined,
    ...(execution.reused && {
      hit: execution.reused.hit,
      ageMs: execution.reused.ageMs,
      reason: 'all of it was reused',
    }),
    ...(execution.taken && { reason: ALL_SKIPPED }),
  };
  work.record(settled);
  return settled;
}

/** The files that the work declared, kept for whoever reuses it. */
async function withFiles(at: PhaseContext, work: Work, execution: Execution): Promise<Execution> {
  if (execution.status !== 'done' || at.phase.outputs.length === 0) return execution;
  const patterns = declaredOutputs(at, work.unit, work.parts.variables);
  return patterns.length === 0 ? execution : at.run.reuse.outputFiles.capture(patterns, execution);
}

/** One of several units can be kept only if its files can be told from those of the others. */
function untoldOutputs(at: PhaseContext, work: Work): string | undefined {
  if (at.phase.outputs.length === 0 || declaredOutputs(at, work.unit, work.parts.variables).length > 0)
    return undefined;
  return '`outputs` does not say which files are of which item (use {item…} in it)';
}

/** Tells everybody who may wait, and the journal. */
function finish(at: PhaseContext, work: Work, found: Found, settled: Settled): Settled {
  const place = work.record(settled);
  tellMade(at, work, found, settled);
  if (settled.saved) at.run.limits.ledger.save(settled.saved);
  const reusable = settled.status === 'done' && settled.runKey !== undefined;
  const runKey = settled.runKey ?? found.runKey;
  if (found.effect && settled.status === 'done') {
    at.run.reuse.effects.keepOwn(at.run.reuse.effects.nameOf(at.path, found.effect.unit), place);
  }
  if (at.run.options.forecast) {
    // Nothing is made in a dry run, and nothing written that could be read back: whoever asks next looks for himself.
    at.run.reuse.shared.abandon(found.runKey);
    if (settled.failure?.forecast === 'would-run') at.run.reuse.shared.expect(runKey);
    return settled;
  }
  if (runKey !== found.runKey) at.run.reuse.shared.abandon(found.runKey);
  at.run.reuse.shared.finish(runKey, settled, reusable ? place : undefined);
  return settled;
}

function tellMade(at: PhaseContext, { unit, parts }: Work, { probes, ttlMs }: Found, settled: Settled): void {
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

function secretIn(at: PhaseContext, execution: Execution): string | undefined {
  const {
    io: { secrets },
  } = at.run;
  if (!secrets.any || secrets.maskOutput(execution.output) === execution.output) return undefined;
  return 'its output holds a secret argument';
}

function notKept(settled: Settled, why: string): Settled {
  const { remark } = settled;
  if (remark === undefined) return { ...settled, remark: `not kept: ${why}` };
  return { ...settled, remark: remark.includes(why) ? `${remark}; not kept` : `${remark}; not kept: ${why}` };
}
