import type { BatchResult, RowResult } from './result.js';

/** Counts rows as they end. */
export class Tally {
  readonly #rows: RowResult[];
  #done = 0;
  #failed = 0;
  #blocked = 0;
  #paused = 0;
  #left = 0;
  #underWay = 0;
  #reused = 0;
  #executed = 0;
  #fromRun = 0;
  #fromStore = 0;
  #firstError: BatchResult['error'];

  constructor(readonly total: number) {
    this.#rows = new Array(total);
  }

  add(result: RowResult): void {
    this.#rows[result.row - 1] = result;
    this.#executed += result.reuse.executed;
    this.#fromRun += result.reuse.run;
    this.#fromStore += result.reuse.crossRun;
    switch (result.status) {
      case 'success':
        this.#done += 1;
        if (result.reuse.executed === 0) this.#reused += 1;
        return;
      case 'blocked':
        this.#blocked += 1;
        this.#failed += 1;
        break;
      case 'failed':
        this.#failed += 1;
        break;
      case 'paused':
        this.#paused += 1;
        break;
      default:
        this.#left += 1;
        if (result.status !== 'cancelled') this.#underWay += 1;
        return;
    }
    // A failure says more than a row that only waits for a person.
    const waits = this.#firstError?.code === 'in-doubt' && result.error?.code !== 'in-doubt';
    if (result.error && (waits || !this.#firstError)) this.#firstError = { row: result.row, ...result.error };
  }

  get rows(): readonly RowResult[] {
    return this.#rows;
  }

  /** How many of those that failed were stopped by a gate or a person. */
  get blocked(): number {
    return this.#blocked;
  }

  get firstError(): BatchResult['error'] {
    return this.#firstError;
  }

  get counts(): Pick<BatchResult, 'total' | 'done' | 'failed' | 'paused' | 'left' | 'underWay' | 'reused' | 'reuse'> {
    return {
      total: this.total,
      done: this.#done,
      failed: this.#failed,
      paused: this.#paused,
      left: this.#left,
      underWay: this.#underWay,
      reused: this.#reused,
      reuse: { executed: this.#executed, run: this.#fromRun, crossRun: this.#fromStore },
    };
  }
}
