import type { ToolProblem } from './host.js';

/** Lets a number of calls in at once; the others wait in order, and too many are refused. */
export class Gate {
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(
    private readonly atOnce: number,
    private readonly mostWaiting: number,
  ) {}

  async through<T>(work: () => Promise<T>): Promise<T | ToolProblem> {
    if (this.#waiting.length >= this.mostWaiting) {
      return { problem: `${this.mostWaiting} calls are waiting already: call again when some have been answered` };
    }
    if (this.#inside >= this.atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place is handed over.
      if (next) next();
      else this.#inside -= 1;
    }
  }
}
