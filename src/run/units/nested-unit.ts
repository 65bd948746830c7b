import type { Failure, FailureCode } from '../../model/failure.js';
import type { Flow, UseBody } from '../../model/flow.js';
import type { JsonObject, JsonValue } from '../../model/json.js';
import { actedOf, addUsage, type Cost, NO_USAGE } from '../../model/outcome.js';
import { bindArgs } from '../../plan/args.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import { formatDuration } from '../../util/duration.js';
import { firstDefined } from '../../util/first-defined.js';
import type { PhaseContext } from '../context/phase-context.js';
import { Admission } from '../core/admission.js';
import { tooDeep } from '../core/depth.js';
import { type Execution, failedBefore, type PhaseOutcome } from '../core/execution.js';
import { graftInto } from '../core/grafted.js';
import { observedOf, unionOf } from '../core/observation-union.js';
import { promised } from '../core/output.js';
import { resultPhase } from '../core/result-phase.js';
import type { Scope, ScopeResult, Variables } from '../core/scope.js';
import { namedInside } from '../core/selectors.js';
import { brokePromise, withRetries } from '../execute/retry.js';
import { TimeLimit } from '../execute/time-limit.js';
import { render, renderValue } from '../render/render.js';
import { unresolvedIn } from '../render/unresolved.js';
import { declaredVariables, type IdentityParts } from '../reuse/identify.js';
import { nestedIdentity } from '../reuse/nested-identity.js';
import type { Prepare, PreparedUnit } from './unit.js';

/** `use`: another flow's file or saved name, with arguments. */
export const prepareNested: Prepare<UseBody> = async (at, spec) => {
  const ref = render(at, spec.body.use, spec.variables).text;
  const loaded = await at.run.flows.nested.load(ref);
  if ('failure' in loaded) return loaded;
  const given = renderValue(at, spec.body.with, spec.variables);
  const { failure, unkeepable } = unresolvedIn(at, given.unresolved);
  if (failure) return { failure };
  const place = spec.label === undefined ? undefined : placeOf(spec.variables?.item?.value, spec.ordinal ?? 0);
  const prepared = await prepareFlow(at, {
    flow: loaded.flow,
    with: given.value as JsonObject,
    generated: false,
    place,
    ordinal: spec.ordinal,
    variables: spec.variables,
    unkeepable,
  });
  if ('failure' in prepared) return prepared;
  return {
    ...prepared,
    execute: (begin) => withRetries(at, { unit: spec.label, calls: 'process' }, () => prepared.execute(begin)),
  };
};

/** An item's scope is named for its value, not for its position: a new order is no new work. */
function placeOf(item: JsonValue | undefined, ordinal: number): string {
  return `${sha256Hex(canonicalEncode(item)).slice(0, 12)}${ordinal === 0 ? '' : `-${ordinal}`}`;
}

export interface NestedSpec {
  readonly flow: Flow;
  readonly with: JsonObject;
  readonly generated: boolean;
  /** Distinguishes the scopes of one phase. */
  readonly place?: string;
  readonly ordinal?: number;
  readonly unkeepable?: string;
  /** Of the unit that runs it. */
  readonly variables?: Variables;
  /** It grows in the flow around it, and sees that flow's arguments and outputs. */
  readonly graft?: boolean;
  /** Phases outside read its phases: it is entered, and not reused as a whole. */
  readonly readInside?: boolean;
}

/** A flow to be run inside another one. As a whole it has an identity only where it may be reused across runs. */
export async function prepareFlow(
  at: PhaseContext,
  spec: NestedSpec,
): Promise<PreparedUnit | { readonly failure: Failure }> {
  const { flow } = spec;
  const deep = tooDeep(at.scope, flow, spec.generated);
  if (deep) return { failure: deep };
  const bound = bindArgs(flow.args, spec.with, { root: at.run.options.project.root, source: 'json' });
  if ('problems' in bound) {
    const problem = bound.problems[0]!;
    return { failure: { code: 'bad-input', message: `${flow.name}: ${problem.message}`, hint: problem.hint } };
  }
  const scope: Scope = {
    path: spec.place === undefined ? at.path : `${at.path}[${spec.place}]`,
    flow,
    args: spec.graft ? { ...at.scope.args, ...bound.args } : bound.args,
    outcomes: new Map(),
    feedback: new Map(),
    grafted: new Map(),
    admission: new Admission(at.scope.admission),
    ...(spec.graft && { around: around(at.scope) }),
    depth: at.scope.depth + 1,
    ...(!at.phase.idempotent && { idempotent: false }),
    generated: spec.generated || at.scope.generated,
    ancestry: [...at.scope.ancestry, flow.file ?? flow.name],
    ...(at.policy.anew && { anew: at.policy.anew }),
    ...(at.newWork !== undefined && { newWork: at.newWork }),
    ...(at.done !== undefined && { done: at.done }),
    ...keptInside(at, spec),
  };
  at.run.io.secrets.add(flow.args, bound.args);
  let anew = scope.anew;
  return {
    parts: await partsOf(at, scope, spec),
    execute: async () => {
      const execution = await execute(at, { ...scope, anew }, spec.unkeepable);
      // Reused results inside would break the promise again, so another attempt executes them.
      if (brokePromise(execution)) anew = { because: `${at.path} is tried again`, readStore: false };
      return execution;
    },
  };
}

function keptInside(at: PhaseContext, { variables }: NestedSpec): Pick<Scope, 'kept'> {
  const around = at.scope.kept;
  if (at.phase.cache.scope !== 'cross-run' && !around) return {};
  return { kept: { env: [...(around?.env ?? []), ...declaredVariables(at, variables)] } };
}

function around(scope: Scope): Map<string, PhaseOutcome> {
  return new Map([...(scope.around ?? []), ...scope.grafted, ...scope.outcomes]);
}

async function partsOf(at: PhaseContext, scope: Scope, spec: NestedSpec): Promise<IdentityParts> {
  const whole: IdentityParts = { body: {}, container: true, unidentified: 'its phases are reused one by one' };
  if (at.policy.scope !== 'cross-run' || spec.readInside) return whole;
  const { skip, rerun } = at.run.options.selection ?? {};
  // With `--skip` inside, the output is no result of the flow. With `--rerun` it is, but the flow has to be entered.
  if (namedInside(scope, skip)) return { ...whole, unidentified: 'a part of it is skipped (--skip)' };
  const entered = namedInside(scope, rerun);
  const identity = await nestedIdentity(at, scope);
  if ('unidentified' in identity) return { ...whole, unidentified: identity.unidentified };
  const { body, probes, moved, ttlMs } = identity;
  const { ordinal, variables } = spec;
  const because = entered === undefined ? {} : { entered: `--rerun ${entered}` };
  return { body, probes, moved: () => firstDefined(moved), ttlMs, ordinal, variables, ...because };
}

async function execute(at: PhaseContext, planned: Scope, unkeepable: string | undefined): Promise<Execution> {
  const startedAt = at.run.options.project.clock.elapsed();
  // Each attempt has its own admission: a failure in the attempt before has closed that one's.
  const scope: Scope = {
    ...planned,
    outcomes: new Map(),
    feedback: new Map(),
    grafted: new Map(),
    admission: new Admission(at.scope.admission),
  };
  const { timeoutMs } = at.phase;
  const limit = timeoutMs === undefined ? undefined : new TimeLimit(at.run, timeoutMs);
  const timer = limit?.signal;
  const result = await at.run.flows.runScope(scope, timer ? AbortSignal.any([at.signal, timer]) : at.signal);
  limit?.clear();
  if (scope.around) graftInto(at.scope, at.phase.id, scope);
  const durationMs = at.run.options.project.clock.elapsed() - startedAt;
  if (timer?.aborted && result.status === 'interrupted' && !at.signal.aborted) {
    return {
      ...failedBefore({
        code: 'timeout',
        message: `did not end within ${formatDuration(timeoutMs!)}`,
        hint: 'Give it more time with `timeout`; what is done inside is kept.',
      }),
      usage: result.usage,
      durationMs,
      attempts: 1,
    };
  }
  return heldToPromise(at, scope, executionOf(scope, result, { durationMs, unkeepable }));
}

/**
 * Checks the flow's output against what the phase promises, each time that the flow is entered: its parts may be reused
 * one by one. As a whole it is reused only under a key that holds the promise.
 */
async function heldToPromise(at: PhaseContext, scope: Scope, execution: Execution): Promise<Execution> {
  const { output, expect } = at.phase;
  if (execution.status !== 'done' || (output === 'text' && expect === undefined)) return execution;
  // Agents like to talk around JSON; a script that does has failed.
  const lenient = resultPhase(scope)?.kind !== 'script';
  const kept = await promised(execution.output, { output, expect, lenient });
  if ('output' in kept) return { ...execution, output: at.run.io.outputs.keep(kept.output) };
  const hint = `What is done inside is kept: correct it there, or run all of it anew with --rerun ${at.path}.`;
  return { ...execution, status: 'failed', failure: { ...kept.failure, hint }, reused: undefined };
}

function executionOf(
  scope: Scope,
  result: ScopeResult,
  { durationMs, unkeepable }: { readonly durationMs: number; readonly unkeepable: string | undefined },
): Execution {
  const outcomes = [...scope.outcomes.values()];
  const keys = outcomes.map(({ id, result: { key }, status }) => `${id} ${key ?? status}`).sort();
  const executions = outcomes.map(({ id, result: { execution }, status }) => `${id} ${execution ?? status}`).sort();
  const { executed, run, crossRun } = result.reuse;
  const status = STATUS[result.status];
  const isIdle = status === 'done' && executed + run + crossRun === 0;
  return {
    status,
    output: result.output,
    usage: result.usage,
    durationMs,
    cost: worthOf(scope, durationMs),
    attempts: isIdle ? 0 : 1,
    ...(isIdle && { noWork: true }),
    files: outcomes.flatMap((outcome) => outcome.result.files),
    key: sha256Hex(keys.join('\n')),
    execution: sha256Hex(executions.join('\n')),
    unitKeys: outcomes.flatMap((outcome) => outcome.keys),
    inputs: { flow: scope.flow.name, args: scope.args },
    unkeepable: unkeepable ?? unkeepableInside(scope),
    acted: actedOf(outcomes),
    // In the order in which they settled.
    observed: unionOf(outcomes.filter(({ status }) => status === 'done').map(({ settled }) => observedOf(settled))),
    // A flow that waits inside, or did not get to all phases, is not reused.
    ...(result.status === 'success' && executed === 0 && run + crossRun > 0
      ? { reused: { hit: run > 0 ? 'run' : 'cross-run', ageMs: result.ageMs ?? 0 } }
      : {}),
    ...(result.failure && { failure: failureOf(result.failure) }),
  };
}

function failureOf(failure: NonNullable<ScopeResult['failure']>): Failure {
  // A dry run's forecast is that of the whole: nothing has failed.
  if (failure.code === 'forecast') return failure;
  const code = PASSED_ON.has(failure.code) ? failure.code : 'nested';
  return { ...failure, code, message: `${failure.phase}: ${failure.message}` };
}

/** Phases that were reused inside are worth what they cost when they were executed. */
function worthOf(scope: Scope, durationMs: number): Cost {
  let usage = NO_USAGE;
  let reusedMs = 0;
  for (const { result, origin, settled } of scope.outcomes.values()) {
    usage = addUsage(usage, result.cost.usage);
    if (origin.hit !== null) reusedMs += settled.saved?.ms ?? 0;
  }
  return { usage, durationMs: durationMs + reusedMs };
}

/** Failures that decide how the whole run ended, however deep they happened. */
const PASSED_ON: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'blocked',
  'rejected',
  'interrupted',
  'budget',
  'frozen',
  'in-doubt',
  'usage-limit',
]);

const STATUS = {
  success: 'done',
  failed: 'failed',
  blocked: 'blocked',
  paused: 'paused',
  'over-budget': 'cancelled',
  interrupted: 'cancelled',
} as const satisfies Record<ScopeResult['status'], Execution['status']>;

/** A tolerated failure, or a result inside that may not be kept: then the whole may not be kept either. */
function unkeepableInside(scope: Scope): string | undefined {
  for (const { id, status, result } of scope.outcomes.values()) {
    if (status !== 'done' && status !== 'skipped') return `${id} ${status} inside`;
    if (result.unkeepable !== undefined) return `${id}: ${result.unkeepable}`;
  }
  return undefined;
}
