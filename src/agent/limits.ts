import type { Failure } from '../model/failure.js';
import { INTERRUPTED, idleFailure, timeoutFailure } from '../process/end-failure.js';
import { onAbort } from '../util/on-abort.js';
import { startTimer } from '../util/timer.js';

/** Ends a request by time, silence or the caller's abort: calls `onStop` once, and keeps the failure that says why. */
export class RequestLimits {
  readonly #forgetSignal: () => void;
  readonly #time: NodeJS.Timeout | undefined;
  readonly #idle: NodeJS.Timeout | undefined;
  failure: Failure | undefined;
  /** Ends the request. A callback, because an AbortSignal per call costs ten times as much. */
  onStop: (() => void) | undefined;

  constructor(limits: { readonly timeoutMs?: number; readonly idleTimeoutMs?: number; readonly signal?: AbortSignal }) {
    const { timeoutMs, idleTimeoutMs, signal } = limits;
    if (timeoutMs !== undefined) this.#time = startTimer(timeoutMs, () => this.stop(timeoutFailure(timeoutMs)));
    // 0 is no bound.
    if (idleTimeoutMs) this.#idle = startTimer(idleTimeoutMs, () => this.stop(idleFailure(idleTimeoutMs)));
    this.#forgetSignal = onAbort(signal, () => this.stop(INTERRUPTED));
    if (signal?.aborted) this.stop(INTERRUPTED);
  }

  activity(): void {
    this.#idle?.refresh();
  }

  clear(): void {
    clearTimeout(this.#time);
    clearTimeout(this.#idle);
    this.#forgetSignal();
  }

  /** The first one counts. */
  stop(failure: Failure): void {
    if (this.failure) return;
    this.failure = failure;
    this.onStop?.();
  }
}
