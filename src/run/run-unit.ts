import type { Failure } from '../model/failure.js';
import type { Phase, RunBody, TaskBody, UseBody } from '../model/flow.js';
import type { JsonObject } from '../model/json.js';
import { mayBeCrossRun } from '../model/kind.js';
import { canonicalEncode } from '../util/canonical.js';
import { firstDefined } from '../util/first-defined.js';
import { type Execution, failedBefore, type Settled } from './execution.js';
import type { IdentityParts } from './identify.js';
import { memoized } from './memoized.js';
import { prepareNested } from './nested-unit.js';
import type { PhaseContext } from './phase-context.js';
import { recordPhase, recordUnit } from './record.js';
import { renderValue } from './render.js';
import { prepareScript } from './script-unit.js';
import { Slots } from './slots.js';
import { prepareTask } from './task-unit.js';
import type { Prepared, PreparedUnit, UnitSpec } from './unit.js';

/** A script is prepared at once; what needs an agent or another flow has to be found first. */
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
export async function runAsPhase(at: PhaseContext, spec: UnitSpec): Promise<Settled> {
  const pending = prepare(at, spec);
  const prepared = pending instanceof Promise ? await pending : pending;
  return runWhole(at, 'failure' in prepared ? brokenUnit(prepared.failure) : prepared);
}

/** A phase with an identity of its own, however many units it takes to make its result. */
export function runWhole(at: PhaseContext, work: PreparedUnit): Promise<Settled> {
  return memoized(at, {
    parts: work.parts,
    private: isPrivate(at.phase),
    execute: work.execute,
    beginsItself: work.beginsItself,
    record: (settled) => recordPhase(at, settled),
  });
}

/** One of several units of a phase. */
export async function runUnit(at: PhaseContext, spec: UnitSpec & { readonly label: string }): Promise<Settled> {
  const prepared = await prepare(at, spec);
  const work: PreparedUnit = 'failure' in prepared ? brokenUnit(prepared.failure) : prepared;
  return memoized(at, {
    unit: spec.label,
    parts: work.parts,
    private: isPrivate(at.phase),
    execute: work.execute,
    beginsItself: work.beginsItself,
    record: (settled) => recordUnit(at, spec.label, settled),
  });
}

/** Units side by side, within the phase's own bound. Each keeps its place; `onSettled` is called as they come in. */
export async function runUnits(
  at: PhaseContext,
  specs: readonly (UnitSpec & { readonly label: string })[],
  onSettled: (settled: Settled, index: number) => void = () => {},
): Promise<readonly Settled[]> {
  const { concurrency } = at.phase;
  // Units wait for the run's slots by themselves; this only keeps ten thousand of them from being prepared at once.
  const bound = new Slots(concurrency ?? Math.max(64, at.run.slots.size * 4));
  const results: Settled[] = new Array(specs.length);
  await Promise.all(
    specs.map(async (spec, index) => {
      const release = await bound.acquire();
      try {
        const settled = await runUnit(at, spec);
        results[index] = settled;
        onSettled(settled, index);
      } finally {
        release();
      }
    }),
  );
  return results;
}

/** Identities of several units as one: of a phase whose result is decided among them. */
export async function partsOfAll(
  at: PhaseContext,
  specs: readonly UnitSpec[],
): Promise<{ readonly parts: IdentityParts } | { readonly failure: Failure }> {
  const bodies: JsonObject[] = [];
  // Under one roof the environments need names of their own; values stay out of the body, which is written down.
  const env: Record<string, string> = {};
  const context: JsonObject[] = [];
  const moved: NonNullable<IdentityParts['moved']>[] = [];
  for (const [index, spec] of specs.entries()) {
    const prepared = await prepare(at, spec);
    if ('failure' in prepared) return prepared;
    const { parts } = prepared;
    bodies.push({ body: parts.body, agent: parts.agent ?? null, cwd: parts.cwd ?? '.', ordinal: parts.ordinal ?? 0 });
    for (const [name, value] of Object.entries(parts.env ?? {})) env[`${index} ${name}`] = value;
    context.push(...(parts.context ?? []));
    if (parts.moved) moved.push(parts.moved);
  }
  return { parts: { body: { units: bodies }, env, context, moved: () => firstDefined(moved) } };
}

/** A phase that cannot even be identified fails, and says so where all results are recorded. */
export function runBroken(at: PhaseContext, failure: Failure): Promise<Settled> {
  return runWhole(at, brokenUnit(failure));
}

/**
 * Numbers equal siblings, so that the second of two equal items is not taken for the first. Equal is what becomes the
 * same when it is rendered; nested flows are told apart by their items, since each is a place of its own.
 */
export function withOrdinals<T extends UnitSpec>(at: PhaseContext, specs: readonly T[]): T[] {
  const seen = new Map<string, number>();
  return specs.map((spec) => {
    const { body, cwd, variables, material } = spec;
    const what = canonicalEncode(
      body.type === 'use'
        ? [variables?.item?.value ?? null]
        : [renderValue(at, { ...body, cwd: cwd ?? null } as JsonObject, variables).value, material ?? null],
    );
    const ordinal = seen.get(what) ?? 0;
    seen.set(what, ordinal + 1);
    return ordinal === 0 ? spec : { ...spec, ordinal };
  });
}

/** Only this scope's own: a decision, or a side effect that every row must have for itself. */
function isPrivate(phase: Phase): boolean {
  return !phase.idempotent || !mayBeCrossRun(phase.kind);
}

/** It cannot even be said what would be done. */
function brokenUnit(failure: Failure): { parts: IdentityParts; execute(): Promise<Execution> } {
  return {
    parts: { body: {}, unidentified: failure.message },
    execute: async () => failedBefore(failure),
  };
}
