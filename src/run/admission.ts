import type { Failure } from '../model/failure.js';

/** Whether new work may still start in a scope and in all scopes inside it. Closed once; never reopened. */
export class Admission {
  #closed: Failure | undefined;

  constructor(private readonly around?: Admission) {}

  close(why: Failure): void {
    this.#closed ??= why;
  }

  get closed(): Failure | undefined {
    return this.#closed ?? this.around?.closed;
  }
}
