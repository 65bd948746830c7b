import { systemClock } from '../util/clock.js';
import { nextTurn } from '../util/timer.js';

/** How far long work is. */
export interface Progress {
  readonly what: string;
  readonly done: number;
  /** Undefined while it is not known. */
  readonly total?: number;
}

/** Reports and ends long work on the store. */
export interface Watcher {
  readonly signal?: AbortSignal;
  /** Called many times a second. */
  readonly onProgress?: (progress: Progress) => void;
}

/** Thrown to unwind long work when the watcher's signal is aborted; a caller without a signal never sees it. */
export class Interrupted extends Error {}

/** Long work yields this often, so that signals are noticed and the lock is touched. */
const SLICE_MS = 25;

/** Long work is done in slices: `if (pace.tick()) await pace.rest();` after each piece. */
export class Pace {
  readonly #watcher: Watcher;
  #what = '';
  #done = 0;
  #total: number | undefined;
  #until = systemClock.elapsed() + SLICE_MS;

  constructor(watcher: Watcher = {}) {
    this.#watcher = watcher;
  }

  begin(what: string, total?: number): void {
    this.#what = what;
    this.#done = 0;
    this.#total = total;
  }

  /** Counts finished pieces; true when the slice is over. */
  tick(pieces = 1): boolean {
    this.#done += pieces;
    return systemClock.elapsed() >= this.#until;
  }

  async rest(): Promise<void> {
    const { signal, onProgress } = this.#watcher;
    onProgress?.({ what: this.#what, done: this.#done, total: this.#total });
    await nextTurn();
    if (signal?.aborted) throw new Interrupted('interrupted');
    this.#until = systemClock.elapsed() + SLICE_MS;
  }
}
