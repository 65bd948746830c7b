import type { CachePolicy, Phase } from '../../model/flow.js';
import { mayBeCrossRun } from '../../model/kind.js';
import type { Observing } from '../../model/observation.js';
import { phasePath, type Scope } from '../core/scope.js';
import { isRerun } from '../core/selectors.js';
import type { RunContext } from './context.js';

/** One phase of one scope, being run. */
export interface PhaseContext<P extends Phase = Phase> {
  readonly run: RunContext;
  readonly scope: Scope;
  readonly phase: P;
  /** Unique within the run. */
  readonly path: string;
  readonly policy: Policy;
  readonly signal: AbortSignal;
  /** A phase upstream that executed in this run: undeclared inputs of this one may have changed. */
  readonly newWork?: string;
  /** In a row or an item: what was done above it there, which those of the other rows and items have not seen. */
  readonly done?: string;
  /** Not 0 when a gate has sent the phase back: nothing is reused then. */
  readonly round: number;
}

/** What the flow declares, narrowed by what this run allows. */
export interface Policy {
  readonly scope: CachePolicy['scope'];
  readonly ttlMs?: number;
  readonly fingerprint: readonly string[];
  /** Whether what the phase looks at is observed, and counts. */
  readonly observe: Observing;
  /** Results of this run and of the one it continues may be reused. */
  readonly readRun: boolean;
  /** Runs again, one time for all rows of a batch: only results of this run may be reused. */
  readonly sharesRun?: true;
  readonly readStore: boolean;
  readonly writeStore: boolean;
  /** Set when the phase, and all inside of it, is run anew. */
  readonly anew?: Scope['anew'];
  /** Why the phase runs although there is a result: a flag, a gate, its scope. */
  readonly because?: string;
}

/** A phase that is about to run. */
interface PhaseToRun {
  readonly run: RunContext;
  readonly scope: Scope;
  readonly phase: Phase;
  /** Default: 0. */
  readonly round?: number;
  /** Default: the run's. */
  readonly signal?: AbortSignal;
}

export function phaseContext(toRun: PhaseToRun): PhaseContext {
  const { run, scope, phase: declared, round = 0, signal = run.limits.signal } = toRun;
  const actsInside = scope.idempotent === false && declared.idempotent && mayBeCrossRun(declared.kind);
  const phase = actsInside ? { ...declared, idempotent: false } : declared;
  return {
    run,
    scope,
    phase,
    path: phasePath(scope, phase.id),
    policy: policyOf({ run, scope, phase, round }),
    signal,
    round,
    newWork: newWorkAbove(scope, phase),
    done: doneAbove(scope, phase),
  };
}

/** Empty where nothing was; undefined outside of rows and items. */
function doneAbove({ path, done = '', outcomes }: Scope, { needs }: Phase): string | undefined {
  if (!path.startsWith('rows/') && !path.includes('[')) return undefined;
  const above = needs.flatMap(({ id }) => outcomes.get(id)?.done || []);
  return above.length === 0 ? done : [...new Set(above)].sort().join(' ');
}

function newWorkAbove(scope: Scope, { needs }: Phase): string | undefined {
  for (const { id } of needs) {
    const found = scope.outcomes.get(id)?.newWork;
    if (found !== undefined) return found;
  }
  return scope.newWork;
}

/** Decides on reuse. It does not rely on the checker having refused what must not be reused. */
function policyOf({ run, scope, phase, round }: PhaseToRun & { readonly round: number }): Policy {
  const { options } = run;
  const declared = phase.cache;
  const off = options.reuse === 'off' || declared.scope === 'off';
  const rerun = isRerun(scope, phase, options.selection?.rerun);
  const selected = scope.path === '' ? selectedAs(run, phase) : undefined;
  const outside = declared.implied && !run.reuse.inRepository();
  const cross = !off && declared.scope === 'cross-run' && mayBeCrossRun(phase.kind) && phase.idempotent && !outside;
  const anew = anewOf({ scope, rerun, round, selected });
  // A side effect that is done stays done in its run, whatever the flags say about reuse.
  const readRun = phase.idempotent ? !off : true;
  return {
    scope: off ? 'off' : cross ? 'cross-run' : 'run-only',
    ttlMs: declared.ttlMs,
    fingerprint: declared.implied && cross ? ['git:worktree'] : declared.fingerprint,
    observe: observing(declared, options.config.cache.observe),
    readRun: readRun && anew === undefined,
    sharesRun: rerun && round === 0 && !off && scope.path !== '' ? true : undefined,
    readStore: cross && (anew?.readStore ?? true) && options.reuse !== 'refresh',
    writeStore: cross,
    anew,
    because: anew && !(anew.readStore && cross) ? anew.because : because({ options, declared, cross }),
  };
}

/** The settings' own object where the flow says nothing: there are a thousand phases. */
function observing({ observe }: CachePolicy, settings: Observing): Observing {
  if (!observe) return settings;
  return {
    mode: observe.mode ?? settings.mode,
    exclude: observe.exclude ? [...settings.exclude, ...observe.exclude] : settings.exclude,
    include: observe.include ? [...settings.include, ...observe.include] : settings.include,
  };
}

/** Why the phase, and whatever is inside of it, is run although this run or the one continued has a result. */
function anewOf(facts: {
  readonly scope: Scope;
  readonly rerun: boolean;
  readonly round: number;
  readonly selected: Scope['anew'];
}): Scope['anew'] {
  if (facts.rerun) return { because: '--rerun', readStore: false, named: true };
  if (facts.round > 0) return { because: `sent back by a gate (round ${facts.round})`, readStore: false };
  return facts.scope.anew ?? facts.selected;
}

/**
 * With `--only` a person wants to see this phase run, with `--from` this one and all that follow it. A side effect that
 * follows stays done: the selector is not its own.
 */
function selectedAs({ options, flows: { following } }: RunContext, { id, idempotent }: Phase): Scope['anew'] {
  const { only, from } = options.selection ?? {};
  if (only === id) return { because: '--only', readStore: true, named: true };
  if (from === id) return { because: `--from ${from}`, readStore: false, named: true };
  return idempotent && following.has(id) ? { because: `--from ${from}`, readStore: false } : undefined;
}

function because(facts: {
  readonly options: RunContext['options'];
  readonly declared: CachePolicy;
  readonly cross: boolean;
}): string | undefined {
  if (facts.options.reuse === 'off') return '--no-cache';
  if (facts.declared.scope === 'off') return 'cache scope is off';
  return facts.cross && facts.options.reuse === 'refresh' ? '--refresh' : undefined;
}
