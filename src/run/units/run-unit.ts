import type { Failure } from '../../model/failure.js';
import type { Phase, RunBody, TaskBody, UseBody } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import { mayBeCrossRun } from '../../model/kind.js';
import { firstDefined } from '../../util/first-defined.js';
import { nextTurn } from '../../util/timer.js';
import { isLongTurn } from '../../util/turn.js';
import type { PhaseContext } from '../context/phase-context.js';
import { notStarted } from '../core/cancelled.js';
import { type Execution, failedBefore, type Settled } from '../core/execution.js';
import { recordPhase, recordUnit } from '../journal/record.js';
import type { IdentityParts } from '../reuse/identify.js';
import { memoized } from '../reuse/memoized.js';
import { unidentified } from '../reuse/settle.js';
import { whyEntered } from '../reuse/why-missed.js';
import { prepareNested } from './nested-unit.js';
import { prepareScript } from './script-unit.js';
import { prepareTask } from './task-unit.js';
import type { Prepared, PreparedUnit, UnitSpec } from './unit.js';

/** A script is prepared at once; an agent or another flow has to be loaded first. */
export function prepare(at: PhaseContext, spec: UnitSpec): Promise<Prepared> | Prepared {
  switch (spec.body.type) {
    case 'task':
      return prepareTask(at, spec as UnitSpec & { body: TaskBody });
    case 'run':
      return prepareScript(at, spec as UnitSpec & { body: RunBody });
    case 'use':
      return prepareNested(at, spec as UnitSpec & { body: UseBody });
  }
}

/** A phase that is one unit: its result is the phase's. */
export function runAsPhase(at: PhaseContext, spec: UnitSpec): Settled | Promise<Settled> {
  const pending = prepare(at, spec);
  const run = (prepared: Prepared) => runWhole(at, 'failure' in prepared ? brokenUnit(prepared.failure) : prepared);
  return pending instanceof Promise ? pending.then(run) : run(pending);
}

/** A phase with an identity of its own, however many units it takes to make its result. */
export function runWhole(at: PhaseContext, work: PreparedUnit): Settled | Promise<Settled> {
  return memoized(entering(at, work.parts), {
    parts: work.parts,
    partsInTheEnd: work.partsInTheEnd,
    private: isPrivate(at.phase),
    execute: work.execute,
    beginsItself: work.beginsItself,
    travelling: work.travelling,
    record: (settled) => recordPhase(at, settled),
  });
}

/** With `--rerun` inside, the whole is not reused: it is made again from what is done inside. */
function entering(at: PhaseContext, { entered }: IdentityParts): PhaseContext {
  if (entered === undefined) return at;
  return { ...at, policy: { ...at.policy, readRun: false, readStore: false, because: entered } };
}

type LabelledSpec = UnitSpec & { readonly label: string };

/** One of several units of a phase; without a promise where nothing has to be awaited. */
export function runUnit(at: PhaseContext, spec: LabelledSpec): Settled | Promise<Settled> {
  const pending = prepare(at, spec);
  return pending instanceof Promise
    ? pending.then((prepared) => runPrepared(at, spec, prepared))
    : runPrepared(at, spec, pending);
}

function runPrepared(at: PhaseContext, spec: LabelledSpec, prepared: Prepared): Settled | Promise<Settled> {
  const { label, variables } = spec;
  const work: PreparedUnit = 'failure' in prepared ? brokenUnit(prepared.failure) : prepared;
  return memoized(entering(at, work.parts), {
    unit: label,
    parts: work.parts,
    private: isPrivate(at.phase),
    execute: work.execute,
    beginsItself: work.beginsItself,
    travelling: work.travelling,
    record: (settled) => {
      at.run.options.onUnit?.({ path: at.path, label, item: variables?.item?.value, settled });
      return recordUnit(at, label, settled);
    },
  });
}

/** Is called as units settle, and may say that it has enough of them. */
interface UnitWatch {
  onBegun(spec: LabelledSpec): void;
  onSettled(settled: Settled, spec: LabelledSpec): void;
  /** No further unit begins. */
  readonly hasEnough: boolean;
}

/** Units side by side, within the phase's own bound. Each keeps its place. */
export async function runUnits(
  at: PhaseContext,
  specs: readonly LabelledSpec[],
  watch?: UnitWatch,
): Promise<readonly Settled[]> {
  // Units wait for the run's slots by themselves: only as many as keep all slots busy, since each one costs memory.
  const bound = at.phase.concurrency ?? at.run.limits.atOnce * 2;
  const results: Settled[] = new Array(specs.length);
  let next = 0;
  // The first worker settles all units that are reused at once, without a promise in between.
  const takeTurns = async () => {
    for (;;) {
      if (isLongTurn()) await nextTurn();
      if (next >= specs.length || isOver(at) || watch?.hasEnough) return;
      const index = next++;
      const spec = specs[index]!;
      const pending = runUnit(at, spec);
      if (pending instanceof Promise) watch?.onBegun(spec);
      const settled = pending instanceof Promise ? await pending : pending;
      results[index] = settled;
      watch?.onSettled(settled, spec);
    }
  };
  await Promise.all(Array.from({ length: Math.min(bound, specs.length) }, takeTurns));
  return next < specs.length ? results.fill(notBegun(at), next) : results;
}

/** After a failure elsewhere, done results are still reused; after these two, nobody waits for them. */
function isOver({ signal, scope }: PhaseContext): boolean {
  return signal.aborted || scope.admission.closed?.code === 'budget';
}

/** One result for all units that the stopped run did not get to: a million journal lines would say no more. */
function notBegun(at: PhaseContext): Settled {
  return unidentified(at, failedBefore(notStarted(at)), whyEntered(at));
}

/** One identity from several units, for a phase whose result is decided among them. */
export async function partsOfAll(
  at: PhaseContext,
  specs: readonly UnitSpec[],
): Promise<{ readonly parts: IdentityParts } | { readonly failure: Failure }> {
  const bodies: JsonObject[] = [];
  // Each unit's environment gets a prefix. Values stay out of the body, because the body is written to disk.
  const env: Record<string, string> = {};
  const context: JsonObject[] = [];
  const moved: NonNullable<IdentityParts['moved']>[] = [];
  let cwd: string | undefined;
  for (const [index, spec] of specs.entries()) {
    const prepared = await prepare(at, spec);
    if ('failure' in prepared) return prepared;
    const { parts } = prepared;
    bodies.push({ body: parts.body, agent: parts.agent ?? null, cwd: parts.cwd ?? '.', ordinal: parts.ordinal ?? 0 });
    for (const [name, value] of Object.entries(parts.env ?? {})) env[`${index} ${name}`] = value;
    context.push(...(parts.context ?? []));
    if (parts.moved) moved.push(parts.moved);
    // One that starts in a worktree is enough for the commit to count.
    if (parts.cwd === 'worktree') cwd = parts.cwd;
  }
  return { parts: { body: { units: bodies }, env, context, cwd, moved: () => firstDefined(moved) } };
}

/** A phase that cannot even be identified fails, and says so where all results are recorded. */
export function runBroken(at: PhaseContext, failure: Failure): Settled | Promise<Settled> {
  return runWhole(at, brokenUnit(failure));
}

/** Not shared between scopes: a decision, or a side effect that every row must have for itself. */
function isPrivate(phase: Phase): boolean {
  return !phase.idempotent || !mayBeCrossRun(phase.kind);
}

/** It cannot even be said what would be done. */
function brokenUnit(failure: Failure): { parts: IdentityParts; execute(): Promise<Execution> } {
  return {
    parts: {
      body: {},
      unidentified: failure.message,
      ...(failure.code === 'forecast' ? { unasked: true } : { broken: true }),
    },
    execute: async () => failedBefore(failure),
  };
}
