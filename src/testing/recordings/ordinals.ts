/** Numbers equal calls from 1 on. */
export class Ordinals {
  readonly #counts = new Map<string, number>();
  readonly #free = new Map<string, number[]>();

  take(key: string): number {
    const free = this.#free.get(key)?.shift();
    if (free !== undefined) return free;
    const next = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, next);
    return next;
  }

  /** For a call without an answer: the next equal call gets its number. */
  giveBack(key: string, ordinal: number): void {
    this.#free.set(
      key,
      [...(this.#free.get(key) ?? []), ordinal].sort((a, b) => a - b),
    );
  }
}
