/** A bound on how much happens at once; first come, first served. */
export class Slots {
  #free: number;
  readonly #waiting: ((() => void) | undefined)[] = [];
  #head = 0;
  #forRoom: (() => void)[] = [];

  constructor(readonly size: number) {
    this.#free = size;
  }

  /** Resolves to the function that gives the slot back (once; more calls do nothing). */
  acquire(): (() => void) | Promise<() => void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return this.#releaser();
    }
    return new Promise((resolve) => {
      this.#waiting.push(() => resolve(this.#releaser()));
    });
  }

  /** All slots are free, so nobody waits. */
  get idle(): boolean {
    return this.#free === this.size;
  }

  /** As many wait for a slot as there are. */
  get crowded(): boolean {
    return this.#waiting.length - this.#head >= this.size;
  }

  /** Calls back one time, when it is no longer crowded; to be used only while it is. */
  whenRoom(callback: () => void): void {
    this.#forRoom.push(callback);
  }

  #callForRoom(): void {
    if (this.#forRoom.length === 0 || this.crowded) return;
    const all = this.#forRoom;
    this.#forRoom = [];
    for (const callback of all) callback();
  }

  #releaser(): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting[this.#head];
      if (next === undefined) {
        this.#free += 1;
        return;
      }
      // Who has been served is not kept until the array is shortened, nor is what leads from there.
      this.#waiting[this.#head] = undefined;
      this.#head += 1;
      // Shifting an array of ten thousand waiters each time would be quadratic.
      if (this.#head > 1024 && this.#head * 2 > this.#waiting.length) {
        this.#waiting.splice(0, this.#head);
        this.#head = 0;
      }
      next();
      this.#callForRoom();
    };
  }
}
