import type { Entry } from '../store/store.js';
import { pause } from '../util/pause.js';

/** The other connections are for look-ups, which a run waits for. */
const AT_ONCE = 8;

/** Entries on their way to the server while the run goes on. */
export class Uploads {
  readonly #waiting: Entry[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #failed = 0;
  #why: string | undefined;
  #isOver = false;

  /** `upload` answers why an entry is not there, in words. */
  constructor(private readonly upload: (entry: Entry) => Promise<string | undefined>) {}

  add(entry: Entry): void {
    this.#waiting.push(entry);
    this.#next();
  }

  /** Waits until all is done, or this long; returns how many were not uploaded, and why. */
  async end(waitMs: number): Promise<{ readonly lost: number; readonly why?: string }> {
    const done = new AbortController();
    await Promise.race([this.#idle(), pause(waitMs, done.signal)]);
    done.abort();
    this.#isOver = true;
    const left = this.#waiting.length + this.#underWay.size;
    return { lost: this.#failed + left, why: this.#why ?? (left > 0 ? 'there was no more time' : undefined) };
  }

  async #idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #next(): void {
    while (!this.#isOver && this.#underWay.size < AT_ONCE && this.#waiting.length > 0) {
      const work = this.#one(this.#waiting.shift()!);
      this.#underWay.add(work);
      void work.then(() => {
        this.#underWay.delete(work);
        this.#next();
      });
    }
  }

  async #one(entry: Entry): Promise<void> {
    const why = await this.upload(entry);
    if (why === undefined) return;
    this.#failed += 1;
    this.#why ??= why;
  }
}
