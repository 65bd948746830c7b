import type { ServerAnswer } from './remote.js';

type Direction = 'read' | 'write';

const MOST_FAILURES = 3;

/**
 * Decides when to stop using a server. No answer counts against reading and writing; an error or a refusal only against
 * the direction of the request. Requests that are under way then are aborted.
 */
export class Breaker {
  readonly #off: Record<Direction, AbortController> = { read: new AbortController(), write: new AbortController() };
  readonly #failures: Record<Direction, number> = { read: 0, write: 0 };

  constructor(private readonly onOff: (direction: Direction | 'both', why: string) => void) {}

  signal(direction: Direction): AbortSignal {
    return this.#off[direction].signal;
  }

  isOff(direction: Direction): boolean {
    return this.signal(direction).aborted;
  }

  /** Counts an answer for or against the server. */
  count(direction: Direction, answer: ServerAnswer): void {
    if (this.isOff(direction)) return;
    if ('refused' in answer) this.#switchOff([direction], answer.refused);
    else if ('failed' in answer) {
      const concerned: Direction[] = 'isServers' in answer ? [direction] : ['read', 'write'];
      for (const each of concerned) this.#failures[each] += 1;
      const ended = concerned.filter((each) => this.#failures[each] >= MOST_FAILURES && !this.isOff(each));
      if (ended.length > 0) this.#switchOff(ended, answer.failed);
    }
  }

  /** The run ends now. */
  stop(): void {
    for (const off of Object.values(this.#off)) off.abort('stopped');
  }

  #switchOff(directions: readonly Direction[], why: string): void {
    for (const each of directions) this.#off[each].abort(why);
    this.onOff(directions.length === 2 ? 'both' : directions[0]!, why);
  }
}
