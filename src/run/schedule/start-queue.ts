import type { Slots } from '../execute/slots.js';

/**
 * Begins ready phases in order. Most end at once because they are reused; the others wait for a slot and hold memory
 * and claims meanwhile. So nothing begins while enough phases wait to keep all slots busy.
 */
export class StartQueue<T> {
  readonly #queue: T[] = [];
  #head = 0;
  /** Begun in this turn of the event loop and not ended: each may come to wait for a slot. */
  #fresh = 0;
  #turn = 0;
  #waits = false;

  /** `begin` returns undefined for an item that has ended by then. */
  constructor(
    private readonly slots: Slots,
    private readonly begin: (item: T) => Promise<void> | undefined,
  ) {}

  add(item: T): void {
    this.#queue.push(item);
    this.#go();
  }

  #go(): void {
    while (!this.#waits && this.#head < this.#queue.length) {
      if (this.slots.crowded) this.slots.whenRoom(this.#pause());
      else if (this.#fresh >= this.slots.size) setImmediate(this.#pause());
      else this.#beginNext();
    }
    if (this.#head !== this.#queue.length) return;
    this.#queue.length = 0;
    this.#head = 0;
  }

  #beginNext(): void {
    const under = this.begin(this.#queue[this.#head++]!);
    if (!under) return;
    const turn = this.#turn;
    this.#fresh += 1;
    void under.then(() => {
      if (turn !== this.#turn) return;
      this.#fresh -= 1;
      this.#go();
    });
  }

  /** Until the returned function is called. */
  #pause(): () => void {
    this.#waits = true;
    return () => {
      this.#waits = false;
      this.#turn += 1;
      this.#fresh = 0;
      this.#go();
    };
  }
}
