import { systemClock } from '../util/clock.js';
import { nextTurn } from '../util/timer.js';

/** How far long work is. */
export interface Progress {
  readonly what: string;
  readonly done: number;
  /** Undefined while nobody knows. */
  readonly total?: number;
}

/** Who watches long work on the store. */
export interface Watcher {
  readonly signal?: AbortSignal;
  /** Many times a second. */
  readonly onProgress?: (progress: Progress) => void;
}

/** Unwinds long work that a person has ended. Only who gave a signal has to expect it. */
export class Interrupted extends Error {}

/** So long nothing else in this process gets its turn: a signal is noticed, a lock shows signs of life. */
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

  /** Counts a piece, or so many; true when the slice is over. */
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
