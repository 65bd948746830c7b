import { addUsage, NO_USAGE, type Usage } from '../model/outcome.js';
import { type Execution, keysOf, type Settled } from './execution.js';

/** What the units of a phase come to: what they cost, whether all of them may be kept, where they can be found again. */
export class UnitTally {
  #usage: Usage = NO_USAGE;
  #worth: Usage = NO_USAGE;
  #reusedMs = 0;
  #unkeepable: string | undefined;
  readonly #keys: string[] = [];

  add(unit: Settled): void {
    this.#usage = addUsage(this.#usage, unit.usage);
    this.#worth = addUsage(this.#worth, unit.cost.usage);
    if (unit.hit) this.#reusedMs += unit.cost.durationMs;
    this.#unkeepable ??= unit.unkeepable;
    this.#keys.push(...keysOf(unit));
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** The part of an execution that is about all of them. */
  figures(durationMs: number): Pick<Execution, 'usage' | 'durationMs' | 'cost' | 'unkeepable' | 'unitKeys'> {
    return {
      usage: this.#usage,
      durationMs,
      cost: { usage: this.#worth, durationMs: durationMs + this.#reusedMs },
      unkeepable: this.#unkeepable,
      unitKeys: this.#keys,
    };
  }
}
