import { KeyTable } from '../../store/key-table.js';
import type { LinePlace } from './writer.js';

const FIRST_SLOTS = 1_024;

/**
 * Places of lines by run key, 56 bytes each. A batch has one for each of its calls, and what lies in the collected heap
 * counts four times: V8 lets it grow to that multiple of what is alive.
 */
export class PlaceTable {
  readonly #keys = new KeyTable();
  /** By slot: offset and length. No line is empty: a length of zero says that there is none. */
  #places = new Float64Array(2 * FIRST_SLOTS);

  set(runKey: string, { offset, length }: LinePlace): void {
    const at = 2 * this.#keys.add(runKey);
    if (at >= this.#places.length) this.#grow();
    this.#places[at] = offset;
    this.#places[at + 1] = length;
  }

  get(runKey: string): LinePlace | undefined {
    const at = 2 * this.#keys.find(runKey);
    const length = at < 0 ? 0 : this.#places[at + 1]!;
    return length === 0 ? undefined : { offset: this.#places[at]!, length };
  }

  has(runKey: string): boolean {
    return this.get(runKey) !== undefined;
  }

  delete(runKey: string): void {
    const at = 2 * this.#keys.find(runKey);
    if (at >= 0) this.#places[at + 1] = 0;
  }

  #grow(): void {
    const places = new Float64Array(2 * this.#places.length);
    places.set(this.#places);
    this.#places = places;
  }
}
