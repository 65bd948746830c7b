import type { Failure } from '../../model/failure.js';
import type { Clock } from '../../util/clock.js';
import { formatDuration } from '../../util/duration.js';
import { onAbort } from '../../util/on-abort.js';

interface GateOptions {
  readonly runner: string;
  readonly clock: Clock;
  /** The longest wait from the first refusal on; beyond it the calls fail. */
  readonly mostMs: number;
  /** False: nobody waits, and phases pause. */
  readonly waits: boolean;
}

/** The right to make one call. `trial`: the first after a limit, which all others wait for. */
export interface Pass {
  readonly trial: boolean;
  readonly closings: number;
}

export interface Closed {
  readonly until: number;
  /** The provider said so. */
  readonly known: boolean;
  readonly waits: boolean;
}

export type Entered = Pass | { readonly failure: Failure; readonly how: 'fails' | 'pauses' } | 'aborted';

/** After a refusal without a time, and doubled each time, up to a bound. */
const FIRST_GUESS_MS = 60_000;
const LONGEST_GUESS_MS = 30 * 60_000;
/** Times that a provider says in minutes, or as a pause, differ by so much from one refusal to the next. */
const SAME_MS = 60_000;
/** A machine that slept looks at the clock soon after it wakes. */
const LOOK_AGAIN_MS = 15_000;

/**
 * One for each runner of a run. While its provider's usage limit holds, nobody is let through and nobody holds a slot.
 * Then one call goes first; the others follow if that one is not refused.
 */
export class UsageGate {
  #until: number | undefined;
  #failure: Failure | undefined;
  #how: 'waits' | 'fails' | 'pauses' = 'waits';
  /** When the first of the refusals in a row came. */
  #since = 0;
  #guesses = 0;
  #closings = 0;
  #isTried = false;
  readonly #waiting = new Set<() => void>();
  /** How long somebody has waited here. */
  #waitedMs = 0;
  #waitedFrom = 0;

  constructor(private readonly options: GateOptions) {}

  get waitedMs(): number {
    return this.#waitedMs + (this.#waiting.size === 0 ? 0 : this.options.clock.elapsed() - this.#waitedFrom);
  }

  /**
   * Waits until a call may be made; `signals` end that, and are asked for only then. A pass that is not used has to be
   * given back with `leave`.
   */
  enter(signals: () => readonly AbortSignal[]): Entered | Promise<Entered> {
    return this.#until === undefined ? { trial: false, closings: this.#closings } : this.#wait(signals());
  }

  async #wait(signals: readonly AbortSignal[]): Promise<Entered> {
    while (this.#until !== undefined) {
      const leftMs = this.#until - this.options.clock.now();
      if (leftMs <= 0 && !this.#isTried) {
        this.#isTried = true;
        return { trial: true, closings: this.#closings };
      }
      if (leftMs > 0 && this.#how !== 'waits') return { failure: this.#failure!, how: this.#how };
      if (signals.some(({ aborted }) => aborted)) return 'aborted';
      await this.#change(leftMs > 0 ? Math.min(leftMs, LOOK_AGAIN_MS) : LOOK_AGAIN_MS, signals);
    }
    return { trial: false, closings: this.#closings };
  }

  /** Whether a pass is still good: the limit may have been met while its holder waited for a slot. */
  admits({ closings }: Pass): boolean {
    return closings === this.#closings;
  }

  /** The call was not made after all: another one goes first. */
  leave({ trial, closings }: Pass): void {
    if (trial && closings === this.#closings) this.#isTried = false;
    this.#wake();
  }

  /** A call with this pass has ended, and not by the limit. One that began before it was met proves nothing. */
  passed({ trial, closings }: Pass): void {
    if (!trial || closings !== this.#closings) return;
    this.#until = undefined;
    this.#isTried = false;
    this.#guesses = 0;
    this.#wake();
  }

  /**
   * A call was refused; `leftMs`: how long the run may go on. The failure that it answers is `transient` if it is worth
   * waiting. `closed` is set where that is news.
   */
  refused(failure: Failure, leftMs: number | undefined): { readonly failure: Failure; readonly closed?: Closed } {
    const now = this.options.clock.now();
    if (this.#until === undefined) this.#since = now;
    const known = failure.resetsAt !== undefined && failure.resetsAt > now ? failure.resetsAt : undefined;
    if (this.#until !== undefined && now < this.#until && (known ?? 0) - this.#until < SAME_MS) {
      // Several calls under way are refused together: that is one refusal.
      this.#until = Math.max(this.#until, known ?? 0);
      return this.#verdict(failure);
    }
    const until = known ?? now + Math.min(LONGEST_GUESS_MS, FIRST_GUESS_MS * 2 ** this.#guesses);
    if (known === undefined) this.#guesses += 1;
    this.#closings += 1;
    this.#until = until;
    this.#isTried = false;
    this.#how = this.options.waits ? 'waits' : 'pauses';
    this.#failure = failure;
    const mostMs = Math.min(this.options.mostMs - (now - this.#since), leftMs ?? Number.POSITIVE_INFINITY);
    if (this.#how === 'waits' && until - now > mostMs) {
      this.#how = 'fails';
      this.#failure = this.#tooLong(failure, { until, known: known !== undefined, leftMs });
    }
    this.#wake();
    return { ...this.#verdict(failure), closed: { until, known: known !== undefined, waits: this.#how === 'waits' } };
  }

  #verdict(failure: Failure): { readonly failure: Failure } {
    return { failure: this.#how === 'fails' ? this.#failure! : failure };
  }

  #tooLong(
    failure: Failure,
    { until, known, leftMs }: { readonly until: number; readonly known: boolean; readonly leftMs: number | undefined },
  ): Failure {
    const { transient: _transient, ...rest } = failure;
    const { clock, mostMs, runner } = this.options;
    const now = clock.now();
    const isLate = leftMs !== undefined && leftMs < mostMs - (now - this.#since);
    const bound = isLate
      ? `${formatDuration(leftMs)} is what --timeout leaves`
      : `limits.resetWait is ${formatDuration(mostMs)}`;
    const waited = now - this.#since > 1_000 ? `, after ${formatDuration(now - this.#since)} of waiting` : '';
    const when = known ? `resets in ${formatDuration(until - now)}` : 'does not say when it resets';
    return {
      ...rest,
      message: `${failure.message} (the usage limit of ${runner} ${when}, and ${bound}${waited})`,
      hint: 'Run again when the limit has reset: what is done is kept.',
    };
  }

  #change(ms: number, signals: readonly AbortSignal[]): Promise<void> {
    if (this.#waiting.size === 0) this.#waitedFrom = this.options.clock.elapsed();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        for (const forget of forgets) forget();
        this.#waiting.delete(done);
        if (this.#waiting.size === 0) this.#waitedMs += this.options.clock.elapsed() - this.#waitedFrom;
        resolve();
      };
      const timer = setTimeout(done, Math.ceil(ms));
      const forgets = signals.map((signal) => onAbort(signal, done));
      this.#waiting.add(done);
    });
  }

  #wake(): void {
    for (const done of [...this.#waiting]) done();
  }
}
