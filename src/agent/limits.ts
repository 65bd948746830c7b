import type { Failure } from '../model/failure.js';
import { INTERRUPTED, idleFailure, timeoutFailure } from '../process/end-failure.js';
import { startTimer } from '../util/timer.js';

/** Time, silence and the caller's abort, as one signal; says which of them it was. */
export class Limits {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #idle: NodeJS.Timeout | undefined;
  failure: Failure | undefined;

  constructor(limits: { readonly timeoutMs?: number; readonly idleTimeoutMs?: number; readonly signal: AbortSignal }) {
    const { timeoutMs, idleTimeoutMs, signal } = limits;
    this.#caller = signal;
    if (timeoutMs !== undefined) this.#start(timeoutMs, timeoutFailure(timeoutMs));
    if (idleTimeoutMs !== undefined) this.#idle = this.#start(idleTimeoutMs, idleFailure(idleTimeoutMs));
    if (signal.aborted) this.#stop(INTERRUPTED);
    else signal.addEventListener('abort', this.#interrupt, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  activity(): void {
    this.#idle?.refresh();
  }

  clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#caller.removeEventListener('abort', this.#interrupt);
  }

  readonly #interrupt = (): void => this.#stop(INTERRUPTED);

  #start(ms: number, failure: Failure): NodeJS.Timeout | undefined {
    const timer = startTimer(ms, () => this.#stop(failure));
    if (timer) this.#timers.push(timer);
    return timer;
  }

  #stop(failure: Failure): void {
    if (this.failure) return;
    this.failure = failure;
    this.#controller.abort();
  }
}
