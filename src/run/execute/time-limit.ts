import { startTimer } from '../../util/timer.js';
import type { RunContext } from '../context/context.js';

/** Looks again after so long at the least, while the time stands still. */
const LEAST_MS = 250;

/** Aborts after a time in which waiting for a provider's usage limit does not count. */
export class TimeLimit {
  readonly #controller = new AbortController();
  readonly #startedAt: number;
  readonly #waitedMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly run: RunContext,
    private readonly ms: number,
  ) {
    this.#startedAt = run.options.project.clock.elapsed();
    this.#waitedMs = run.flows.runners.waitedMs;
    this.#timer = startTimer(ms, () => this.#look());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const { options, flows } = this.run;
    const passedMs = options.project.clock.elapsed() - this.#startedAt - (flows.runners.waitedMs - this.#waitedMs);
    const leftMs = this.ms - passedMs;
    // A timer may fire a moment early.
    if (leftMs < 2) this.#controller.abort();
    else this.#timer = startTimer(Math.max(LEAST_MS, leftMs), () => this.#look());
  }
}
