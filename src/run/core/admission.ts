import type { Failure } from '../../model/failure.js';

/** Whether new work may still start in a scope and in all scopes inside it. Closed once; never reopened. */
export class Admission {
  #closed: Failure | undefined;
  #own: AbortController | undefined;
  #ended: AbortSignal | undefined;

  constructor(private readonly around?: Admission) {}

  close(why: Failure): void {
    this.#closed ??= why;
    this.#own?.abort();
  }

  /** Aborts when it is closed, so that nothing waits only to be refused. */
  get ended(): AbortSignal {
    this.#ended ??= this.#watch();
    return this.#ended;
  }

  get closed(): Failure | undefined {
    return this.#closed ?? this.around?.closed;
  }

  #watch(): AbortSignal {
    this.#own = new AbortController();
    if (this.#closed) this.#own.abort();
    return this.around ? AbortSignal.any([this.#own.signal, this.around.ended]) : this.#own.signal;
  }
}
