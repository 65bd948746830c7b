import type { Slots } from '../execute/slots.js';

/**
 * Lets what is ready begin, in order. Most of what begins is done at once, because its result is there; the rest goes on
 * to wait for a slot, with all that it has looked at and a claim that others wait for. So while there is a crowd before
 * the slots nothing begins: as much waits there as keeps all of them busy, and everything else stays where it is.
 */
export class Starting<T> {
  readonly #queue: T[] = [];
  #head = 0;
  /** Begun in this turn of the event loop and not over: on its way to the slots, perhaps. */
  #fresh = 0;
  #turn = 0;
  #waits = false;

  /** `begin` returns nothing for what is over when it returns. */
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
