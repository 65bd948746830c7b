import type { Failure } from '../model/failure.js';
import { onAbort } from '../util/on-abort.js';
import { startTimer } from '../util/timer.js';
import type { Child } from './child.js';
import { INTERRUPTED, idleFailure, timeoutFailure } from './end-failure.js';
import type { ProcessRequest } from './process.js';

/** Waits for a process to end, or for a reason to end it: its limit, silence, an abort. The first one counts. */
export class Watch {
  /** Resolves on whichever comes first. */
  readonly over: Promise<void>;
  stopped: Failure | undefined;
  readonly #timeout: NodeJS.Timeout | undefined;
  readonly #idle: NodeJS.Timeout | undefined;
  readonly #forgetSignal: () => void;
  readonly #child: Child;
  #markOver: () => void = () => {};

  constructor(request: ProcessRequest, child: Child) {
    this.#child = child;
    this.over = new Promise((resolve) => {
      this.#markOver = resolve;
    });
    child.onExit(() => this.#settle());
    const { timeoutMs, idleTimeoutMs, signal } = request;
    if (timeoutMs !== undefined) this.#timeout = startTimer(timeoutMs, () => this.stop(timeoutFailure(timeoutMs)));
    // 0 is no bound.
    if (idleTimeoutMs) {
      this.#idle = startTimer(idleTimeoutMs, () => this.stop(idleFailure(idleTimeoutMs)));
    }
    this.#forgetSignal = onAbort(signal, () => this.stop(INTERRUPTED));
  }

  /** Resolves when a process that was stopped has ended. */
  exited(): Promise<void> {
    return new Promise((resolve) => {
      this.#child.onExit(() => resolve());
    });
  }

  /** The process said something. */
  activity(): void {
    this.#idle?.refresh();
  }

  stop(failure: Failure): void {
    if (this.#child.exit || this.stopped) return;
    this.stopped = failure;
    this.#settle();
  }

  #settle(): void {
    clearTimeout(this.#timeout);
    clearTimeout(this.#idle);
    this.#forgetSignal();
    this.#markOver();
  }
}
