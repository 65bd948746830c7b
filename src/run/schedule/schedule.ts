import type { RunStatus } from '../../model/event.js';
import { type Failure, waitsFor } from '../../model/failure.js';
import type { Phase } from '../../model/flow.js';
import { addUsage, NO_OUTPUT, NO_SAVINGS, NO_USAGE } from '../../model/outcome.js';
import type { RunContext } from '../context/context.js';
import { phaseContext } from '../context/phase-context.js';
import { addSavings } from '../core/budget.js';
import type { PhaseOutcome } from '../core/execution.js';
import { forecastOfParts } from '../core/forecast-outcome.js';
import { resultPhase } from '../core/result-phase.js';
import { phasePath, type Scope, type ScopeResult } from '../core/scope.js';
import type { NotRun } from '../reuse/settle.js';
import { type DependencyState, type Readiness, readiness } from './readiness.js';
import { runPhase, unrun } from './run-phase.js';
import { selectPhases } from './selection.js';
import { StartQueue } from './start-queue.js';
import { stopsOf } from './stops.js';

/**
 * Runs the phases of one flow. A phase starts the moment its own dependencies are settled: there are no layers, and
 * the run's slots are the only bound. Every phase settles exactly once.
 */
export function runScope(run: RunContext, scope: Scope, signal: AbortSignal): Promise<ScopeResult> {
  return new Schedule(run, scope, signal).run();
}

type NeverWhy = Extract<Readiness, { now: 'never' }>['why'];

class Schedule {
  readonly #byId: ReadonlyMap<string, Phase>;
  readonly #dependents = new Map<string, Phase[]>();
  /** Dependencies of a phase that have not settled. */
  readonly #unsettled = new Map<string, number>();
  readonly #started = new Set<string>();
  readonly #startQueue: StartQueue<Phase>;
  readonly #select: ReturnType<typeof selectPhases>;
  readonly #settled: { readonly phase: Phase; readonly outcome: PhaseOutcome }[] = [];
  #left: number;
  #finish: () => void = () => {};
  #firstFailure: (Failure & { phase: string }) | undefined;

  constructor(
    private readonly runContext: RunContext,
    private readonly scope: Scope,
    private readonly signal: AbortSignal,
  ) {
    const { phases } = scope.flow;
    this.#byId = new Map(phases.map((phase) => [phase.id, phase]));
    this.#left = phases.length;
    this.#startQueue = new StartQueue(runContext.limits.slots, (phase) => this.#start(phase));
    this.#select = selectPhases(scope, runContext.options.selection);
    for (const phase of phases) {
      this.#unsettled.set(phase.id, phase.needs.length);
      for (const { id } of phase.needs) {
        const list = this.#dependents.get(id);
        if (list) list.push(phase);
        else this.#dependents.set(id, [phase]);
      }
    }
  }

  async run(): Promise<ScopeResult> {
    const finished = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    this.#stopAtStart();
    for (const phase of this.scope.flow.phases) {
      if (phase.needs.length === 0 && !this.#started.has(phase.id)) this.#ready(phase);
    }
    if (this.#left === 0) this.#finish();
    await finished;
    return this.#result();
  }

  #stopAtStart(): void {
    for (const { phase, failure } of stopsOf(this.runContext, this.scope)) {
      if (this.#started.has(phase.id)) continue;
      this.#started.add(phase.id);
      this.#settle(phase, this.#notRun(phase, { status: 'failed', reason: 'in doubt', failure }));
    }
  }

  #ready(phase: Phase): void {
    this.#started.add(phase.id);
    this.#startQueue.add(phase);
  }

  /** Undefined for a phase that settles at once. */
  #start(phase: Phase): Promise<void> | undefined {
    const { closed } = this.scope.admission;
    if (closed || this.signal.aborted) {
      const reason = closed ? `not started: ${closed.message}` : 'interrupted';
      this.#settle(phase, this.#notRun(phase, { status: 'cancelled', reason }));
      return undefined;
    }
    const pending = this.#run(phase);
    if (pending instanceof Promise) {
      return pending.then(
        (outcome) => this.#settle(phase, outcome),
        (error: unknown) => this.#settle(phase, this.#crashed(phase, error)),
      );
    }
    this.#settle(phase, pending);
    return undefined;
  }

  #run(phase: Phase): PhaseOutcome | Promise<PhaseOutcome> {
    const { runContext: run, scope, signal } = this;
    try {
      return runPhase({ run, scope, phase, round: 0, signal, selected: this.#select(phase.id) });
    } catch (error) {
      return this.#crashed(phase, error);
    }
  }

  /** In a loop: a chain of ten thousand phases that never start must not fill the stack. */
  #settle(phase: Phase, outcome: PhaseOutcome): void {
    this.#settled.push({ phase, outcome });
    if (this.#settled.length > 1) return;
    for (let index = 0; index < this.#settled.length; index++) this.#spread(this.#settled[index]!);
    this.#settled.length = 0;
  }

  #spread({ phase, outcome }: { phase: Phase; outcome: PhaseOutcome }): void {
    const { scope } = this;
    scope.outcomes.set(phase.id, outcome);
    this.#left -= 1;
    if (!phase.optional && (outcome.status === 'failed' || outcome.status === 'blocked')) this.#failed(phase, outcome);
    for (const dependent of this.#dependents.get(phase.id) ?? []) {
      this.#unsettled.set(dependent.id, this.#unsettled.get(dependent.id)! - 1);
      this.#consider(dependent);
    }
    if (this.#left === 0) this.#finish();
  }

  #failed(phase: Phase, outcome: PhaseOutcome): void {
    const failure = outcome.failure ?? { code: 'internal', message: outcome.status };
    this.#firstFailure ??= { ...failure, phase: phase.id };
    const { keepGoing, forecast } = this.runContext.options;
    // A forecast goes on: a failure would not stop phases that had begun before it.
    if (!keepGoing && !forecast) {
      this.scope.admission.close({ ...failure, message: `${phase.id} ${outcome.status}` });
    }
  }

  /** Starts the phase if it may start now, settles it if it never will. */
  #consider(phase: Phase): void {
    if (this.#started.has(phase.id)) return;
    // Most phases wait for all: counting is quicker than looking at every dependency each time one settles.
    if (phase.join === 'all' && this.#unsettled.get(phase.id) !== 0) return;
    const ready = readiness(
      phase.join,
      phase.needs.map(({ id }) => this.#stateOf(id)),
    );
    if (ready.now === 'start') this.#ready(phase);
    if (ready.now === 'never') this.#never(phase, ready.why, phase.needs[ready.because]!.id);
  }

  #never(phase: Phase, why: NeverWhy, cause: string): void {
    this.#started.add(phase.id);
    this.#settle(phase, this.#notRun(phase, this.#whyNever(why, cause)));
  }

  #whyNever(why: NeverWhy, cause: string): NotRun {
    const { keepGoing, forecast } = this.runContext.options;
    const ended = this.scope.outcomes.get(cause)?.status ?? 'failed';
    switch (why) {
      case 'bad': {
        const failed = forecast ? 'would fail' : ended;
        const message = `needs ${cause}, which ${ended === 'skipped' ? 'was skipped' : failed}`;
        const status = keepGoing ? 'skipped' : 'cancelled';
        return { status, reason: message, failure: { code: 'dependency', message } };
      }
      case 'waiting':
        // Recorded for good: it stays true when somebody has decided.
        return {
          status: 'cancelled',
          reason: `${cause} waited for ${waitsFor(this.scope.outcomes.get(cause)?.failure)}`,
        };
      case 'cancelled':
        return { status: 'cancelled', reason: `${cause} ${forecast ? 'would run first' : 'did not run'}` };
      case 'all-skipped':
        return { status: 'skipped', reason: 'all that it needs was skipped' };
    }
  }

  #stateOf(id: string): DependencyState {
    const outcome = this.scope.outcomes.get(id);
    if (!outcome) return 'open';
    switch (outcome.status) {
      case 'done':
        return 'done';
      case 'failed':
      case 'blocked':
        return this.#byId.get(id)?.optional ? 'done' : 'bad';
      case 'skipped':
        if (this.#select(id) === 'skip') return 'done';
        return outcome.failure?.code === 'dependency' ? 'bad' : 'skipped';
      case 'paused':
        return 'waiting';
      case 'cancelled':
        return 'cancelled';
    }
  }

  #notRun(phase: Phase, why: NotRun): PhaseOutcome {
    const { runContext: run, scope, signal } = this;
    return unrun(phaseContext({ run, scope, phase, signal }), why);
  }

  /** An exception is a bug in taskflow; it fails the phase instead of hanging the run. */
  #crashed(phase: Phase, error: unknown): PhaseOutcome {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    const failure: Failure = { code: 'internal', message: `a bug in taskflow: ${message}`, detail: stack };
    return this.#notRun(phase, { status: 'failed', reason: 'internal error', failure });
  }

  #result(): ScopeResult {
    let usage = NO_USAGE;
    let saved = NO_SAVINGS;
    let ageMs: number | undefined;
    const reuse = { executed: 0, run: 0, crossRun: 0 };
    for (const { status, origin, settled } of this.scope.outcomes.values()) {
      const { hit, ageMs: age } = origin;
      usage = addUsage(usage, settled.usage);
      if (settled.saved) saved = addSavings(saved, settled.saved);
      if (hit === 'run') reuse.run += 1;
      else if (hit === 'cross-run') reuse.crossRun += 1;
      else if (!settled.noWork && (status === 'done' || settled.attempts > 0)) reuse.executed += 1;
      if (age !== undefined) ageMs = Math.min(ageMs ?? age, age);
    }
    const last = this.#last();
    const status = this.#status();
    return {
      status,
      output: last?.status === 'done' ? last.result.output : NO_OUTPUT,
      usage,
      saved,
      reuse,
      ageMs,
      failure: status === 'success' ? undefined : (this.#firstFailure ?? this.#otherReason()),
      ...(this.scope.flow.phases.some(({ id }) => this.#select(id) === 'leave') && { partial: true }),
    };
  }

  /** Says so where the phase that should give the result was left out. */
  #last(): PhaseOutcome | undefined {
    const wanted = this.#wanted();
    if (wanted !== undefined) return this.scope.outcomes.get(wanted);
    const { flow } = this.scope;
    const last = resultPhase(this.scope);
    if (last?.status === 'done' && last.id !== flow.result && !this.runContext.options.forecast) {
      const [skipped, instead] = [flow.result, last.id].map((id) => phasePath(this.scope, id));
      this.runContext.io.warn(`${skipped} was skipped, so the result is the output of ${instead}`);
    }
    return last;
  }

  /** A person who runs one phase, or up to one, wants the output of that one. */
  #wanted(): string | undefined {
    const { only, until } = this.scope.path === '' ? (this.runContext.options.selection ?? {}) : {};
    return only ?? until;
  }

  #status(): RunStatus {
    const statuses = new Set([...this.scope.outcomes.values()].map((outcome) => outcome.status));
    const { closed } = this.scope.admission;
    // A row of a batch that was done before another one used up the budget is done.
    const unfinished = statuses.has('cancelled') || statuses.has('failed');
    if (closed?.code === 'budget' && unfinished) return 'over-budget';
    // A run that exceeds its time limit failed: nobody interrupted it.
    const late = closed?.code === 'timeout' && this.scope.depth === 0;
    if (this.signal.aborted && unfinished) return late ? 'failed' : 'interrupted';
    if (this.#firstFailure)
      return this.#firstFailure.code === 'blocked' || this.#firstFailure.code === 'rejected' ? 'blocked' : 'failed';
    if (statuses.has('paused')) return 'paused';
    return statuses.has('cancelled') ? 'interrupted' : 'success';
  }

  /** For a scope that did not succeed although no phase failed: paused, out of budget, interrupted. */
  #otherReason(): (Failure & { phase: string }) | undefined {
    for (const outcome of this.scope.outcomes.values()) {
      if (outcome.status === 'paused' && outcome.failure) return { ...outcome.failure, phase: outcome.id };
    }
    const { closed } = this.scope.admission;
    const stopped = [...this.scope.outcomes.values()].filter((outcome) => outcome.status === 'cancelled');
    const [cancelled] = stopped;
    const forecast = forecastOfParts(stopped.map(({ failure }) => failure));
    if (forecast && cancelled) return { ...forecast, phase: cancelled.id };
    if (closed) return { ...closed, phase: cancelled?.id ?? '' };
    return cancelled && { code: 'interrupted', message: 'interrupted', phase: cancelled.id };
  }
}
