import type { Branch, Flow, Phase, RunBody, TaskBody, UseBody } from '../../model/flow.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { mayBeCrossRun } from '../../model/kind.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import type { PhaseContext } from '../context/phase-context.js';
import { agentCall } from '../core/agent-call.js';
import type { Scope } from '../core/scope.js';
import { contextMoved, contextText } from '../render/context-files.js';
import { render } from '../render/render.js';
import { filledIn, type Probe } from './identify.js';
import { significantFields } from './significant-fields.js';
import { warnOf } from './warn-of.js';

/** What decides the result of a whole flow: its definition and those it uses, its arguments, who answers, the world. */
interface NestedIdentity {
  readonly body: JsonObject;
  readonly probes: readonly Probe[];
  /** Whether context files inside have changed since. */
  readonly moved: readonly (() => Promise<string | undefined>)[];
  readonly ttlMs?: number;
}

type Found = NestedIdentity | { readonly unidentified: string };

export async function nestedIdentity(at: PhaseContext, scope: Scope): Promise<Found> {
  const walk: Walk = {
    at,
    probes: new Map(),
    agents: [],
    contexts: [],
    moved: [],
    uses: {},
    ttlMs: Number.POSITIVE_INFINITY,
  };
  const problem = await visitFlow(walk, scope);
  if (problem !== undefined) return { unidentified: problem };
  return {
    body: {
      definition: significantFields(scope.flow),
      args: scope.args,
      around: outputsAround(scope),
      agents: walk.agents,
      contexts: walk.contexts,
      uses: walk.uses,
    },
    probes: [...walk.probes.values()],
    moved: walk.moved,
    ttlMs: Number.isFinite(walk.ttlMs) ? walk.ttlMs : undefined,
  };
}

interface Walk {
  readonly at: PhaseContext;
  readonly probes: Map<string, Probe>;
  readonly agents: JsonValue[];
  readonly contexts: JsonValue[];
  readonly moved: (() => Promise<string | undefined>)[];
  readonly uses: Record<string, JsonValue>;
  ttlMs: number;
}

/** Why the flow cannot be identified as a whole; undefined when it can. */
async function visitFlow(walk: Walk, scope: Scope): Promise<string | undefined> {
  for (const phase of scope.flow.phases) {
    const problem = (await visitPhase(walk, scope, phase)) ?? (await visitBodies(walk, scope, phase));
    if (problem !== undefined) return `${phase.id}: ${problem}`;
  }
  return undefined;
}

async function visitPhase(walk: Walk, scope: Scope, phase: Phase): Promise<string | undefined> {
  if (!mayBeCrossRun(phase.kind)) return `${phase.kind} is decided in each run`;
  if (!phase.idempotent) return 'it is not idempotent';
  if (phase.cache.scope === 'off') return 'its cache scope is off';
  if (phase.cache.ttlMs !== undefined) walk.ttlMs = Math.min(walk.ttlMs, phase.cache.ttlMs);
  const site = { ...walk.at, scope, phase };
  const entries = [
    ...phase.cache.fingerprint,
    ...(phase.cache.implied ? ['git:worktree'] : []),
    ...(startsInWorktree(phase) ? ['git:HEAD'] : []),
  ];
  for (const entry of entries) {
    const rendered = knownOnlyInside(entry) ? undefined : filledIn(site, entry);
    if (rendered === undefined) return `its fingerprint ${entry} is known only inside`;
    // Each phase leaves out what it writes itself, so one entry may have two values.
    const name = canonicalEncode([rendered, phase.outputs]);
    if (walk.probes.has(name)) continue;
    const resolved = await walk.at.run.reuse.fingerprints.resolve(rendered, { ownOutputs: phase.outputs });
    if ('failed' in resolved) return `${rendered}: ${resolved.failed}`;
    await warnOf(site, rendered, resolved);
    walk.probes.set(name, { found: resolved.value, ownOutputs: phase.outputs });
  }
  if (phase.context.length === 0) return undefined;
  const files = phase.context.filter((entry) => !/^\{steps\./.test(entry));
  if (files.some((entry) => knownOnlyInside(entry) || render(site, entry).unresolved.length > 0))
    return 'its context is known only inside';
  const place = { ...site, phase: { ...phase, context: files } };
  const context = await contextText(place, undefined);
  if ('failure' in context) return context.failure.message;
  walk.moved.push(() => contextMoved(place, undefined, context));
  walk.contexts.push(context.identity as JsonValue);
  return undefined;
}

async function visitBodies(walk: Walk, scope: Scope, phase: Phase): Promise<string | undefined> {
  for (const body of bodiesOf(phase)) {
    if (body.type === 'run') continue;
    if (body.type === 'use') {
      const problem = await visitUse(walk, scope, body.use);
      if (problem !== undefined) return problem;
      continue;
    }
    // The definition and the arguments decide what fills the texts of a task, and both are in the identity.
    const call = await agentCall({ run: walk.at.run, scope }, body);
    if ('failure' in call) return call.failure.message;
    walk.agents.push(call.identity);
  }
  if (phase.kind !== 'flow' && phase.kind !== 'expand') return undefined;
  if (phase.source.from === 'use') return visitUse(walk, scope, phase.source.use);
  if (phase.source.from !== 'inline') return 'it runs a flow that is made inside';
  return visitFlow(walk, inside(scope, phase.source.flow));
}

async function visitUse(walk: Walk, scope: Scope, use: string): Promise<string | undefined> {
  const { text: ref, unresolved } = render({ scope, phase: walk.at.phase }, use);
  if (knownOnlyInside(use) || unresolved.length > 0) return `which flow it uses (${use}) is known only inside`;
  if (Object.hasOwn(walk.uses, ref)) return undefined;
  const loaded = await walk.at.run.flows.nested.load(ref);
  if ('failure' in loaded) return loaded.failure.message;
  walk.uses[ref] = significantFields(loaded.flow);
  return visitFlow(walk, inside(scope, loaded.flow));
}

/** Arguments further in are made by the phases around them; only this flow's own are known here. */
function inside(scope: Scope, flow: Flow): Scope {
  return { ...scope, flow, args: {}, depth: scope.depth + 1 };
}

/** It quotes an output, an item or the like; the braces may hold any map variable's name. */
function knownOnlyInside(text: string): boolean {
  return text.replaceAll(/\{args\.[^{}]*\}/g, '').includes('{');
}

export function bodiesOf(phase: Phase): readonly (TaskBody | RunBody | UseBody)[] {
  const of = (branches: readonly Branch[]) => branches.map((branch) => branch.body);
  switch (phase.kind) {
    case 'agent':
    case 'script':
    case 'map':
    case 'reduce':
    case 'loop':
      return [phase.body];
    case 'parallel':
    case 'race':
      return of(phase.branches);
    case 'tournament':
      return [...(phase.body ? [phase.body] : []), ...of(phase.branches), phase.judgeBody];
    case 'gate':
    case 'approval':
    case 'flow':
    case 'expand':
      return [];
  }
}

/** The phase, or one of its branches. */
function startsInWorktree(phase: Phase): boolean {
  const branches = 'branches' in phase ? phase.branches : [];
  return phase.cwd === 'worktree' || branches.some(({ cwd }) => cwd === 'worktree');
}

/** A fragment that grows in another flow may quote outputs of that flow, which its text alone does not show. */
function outputsAround({ flow, around }: Scope): JsonObject {
  if (!around) return {};
  const quoted = new Set([...JSON.stringify(flow).matchAll(/\{steps\.([A-Za-z0-9][\w-]*)/g)].map((match) => match[1]!));
  const seen = [...around].filter(([id]) => quoted.has(id));
  return Object.fromEntries(
    seen.map(([id, { status, result }]) => [
      id,
      status === 'done' ? sha256Hex(canonicalEncode(result.output)) : status,
    ]),
  );
}
