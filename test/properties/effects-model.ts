/**
 * What may become of a side effect, as plainly as it can be said. One of these for each flow and arguments; it knows
 * nothing of journals, caches or ledgers.
 */
export class EffectsModel {
  readonly #known = new Map<string, EffectState>();

  /** Why this side effect must not begin now; undefined when it may. */
  objection(effect: string, word: boolean): string | undefined {
    const known = this.#known.get(effect);
    if (!known || word) return undefined;
    switch (known) {
      case 'open':
        return 'it had begun, and nobody knew how it ended';
      case 'done':
        return 'it was done, in a run that had not finished';
      case 'finished':
        return 'it was done in the run that is continued';
    }
  }

  begin(effect: string): void {
    this.#known.set(effect, 'open');
  }

  done(effect: string): void {
    this.#known.set(effect, 'done');
  }

  /** By itself. */
  failed(effect: string): void {
    this.#known.delete(effect);
  }

  /** A whole run has ended well: what was done is finished. */
  succeeded(): void {
    for (const [effect, state] of this.#known) if (state === 'done') this.#known.set(effect, 'finished');
  }

  /** A person said that it is done: that settles a doubt. */
  kept(effect: string): void {
    if (this.#known.get(effect) === 'open') this.#known.set(effect, 'done');
  }

  /** A run that continues nothing: what is finished is of another run. */
  startsAfresh(): void {
    for (const [effect, state] of this.#known) if (state === 'finished') this.#known.delete(effect);
  }

  /** Whether a run may stop because of it. */
  isUndecided(effect: string): boolean {
    return this.#known.has(effect);
  }

  get effects(): readonly string[] {
    return [...this.#known.keys()];
  }
}

/** `finished`: done in a whole run that ended well, and not begun since. */
type EffectState = 'open' | 'done' | 'finished';
