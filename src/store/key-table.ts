const KEY_BYTES = 32;

/** Many keys in little memory: 40 bytes each. A key has a slot, in the order in which they were added. */
export class KeyTable {
  #keys = Buffer.alloc(1_024 * KEY_BYTES);
  /** Open addressing; a slot plus one, or nothing. Keys are digests: any four of their bytes are a good hash. */
  #places = new Int32Array(2_048);
  readonly #wanted = Buffer.alloc(KEY_BYTES);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The key's slot, a new one if the key is not there yet. */
  add(key: string): number {
    if ((this.#size + 1) * KEY_BYTES > this.#keys.length) this.#grow();
    const place = this.#placeOf(key);
    const known = this.#places[place]!;
    if (known > 0) return known - 1;
    const slot = this.#size;
    this.#wanted.copy(this.#keys, slot * KEY_BYTES);
    this.#places[place] = slot + 1;
    this.#size += 1;
    return slot;
  }

  /** The key's slot; -1 if the key is not there. */
  find(key: string): number {
    return this.#places[this.#placeOf(key)]! - 1;
  }

  has(key: string): boolean {
    return this.find(key) >= 0;
  }

  keyAt(slot: number): string {
    return this.#keys.toString('hex', slot * KEY_BYTES, (slot + 1) * KEY_BYTES);
  }

  compare(a: number, b: number): number {
    const [from, to] = [a * KEY_BYTES, b * KEY_BYTES];
    return this.#keys.compare(this.#keys, to, to + KEY_BYTES, from, from + KEY_BYTES);
  }

  #placeOf(key: string): number {
    this.#wanted.write(key, 'hex');
    const mask = this.#places.length - 1;
    let place = this.#wanted.readUInt32LE(0) & mask;
    for (let slot = this.#places[place]!; slot > 0; slot = this.#places[place]!) {
      const at = (slot - 1) * KEY_BYTES;
      if (this.#keys.compare(this.#wanted, 0, KEY_BYTES, at, at + KEY_BYTES) === 0) break;
      place = (place + 1) & mask;
    }
    return place;
  }

  #grow(): void {
    const keys = Buffer.alloc(this.#keys.length * 2);
    this.#keys.copy(keys);
    this.#keys = keys;
    this.#places = new Int32Array((keys.length / KEY_BYTES) * 2);
    const mask = this.#places.length - 1;
    for (let slot = 0; slot < this.#size; slot++) {
      let place = keys.readUInt32LE(slot * KEY_BYTES) & mask;
      while (this.#places[place]! > 0) place = (place + 1) & mask;
      this.#places[place] = slot + 1;
    }
  }
}
