import type { Entry } from '../store/store.js';
import { pause } from '../util/pause.js';

/** Leaves connections for look-ups, which a run waits for. */
const AT_ONCE = 8;

/** Uploads entries while the run goes on. */
export class Uploads {
  readonly #waiting: (() => Promise<void>)[] = [];
  readonly #pending = new Set<Promise<void>>();
  #underWay = 0;
  #failed = 0;
  #why: string | undefined;
  #isOver = false;

  /** `upload` returns why it failed; undefined when it worked. */
  constructor(private readonly upload: (entry: Entry) => Promise<string | undefined>) {}

  add(entry: Entry): void {
    const done = new Promise<void>((resolve) => {
      this.#waiting.push(() => this.#one(entry).finally(resolve));
    });
    this.#pending.add(done);
    void done.then(() => this.#pending.delete(done));
    this.#next();
  }

  /** Resolves when all uploads that were added so far have ended. */
  async soFar(): Promise<void> {
    await Promise.all(this.#pending);
  }

  /** Waits for all uploads, at most this long; returns how many entries were not uploaded, and why. */
  async end(waitMs: number): Promise<{ readonly lost: number; readonly why?: string }> {
    const done = new AbortController();
    await Promise.race([this.soFar(), pause(waitMs, done.signal)]);
    done.abort();
    this.#isOver = true;
    const left = this.#pending.size;
    return { lost: this.#failed + left, why: this.#why ?? (left > 0 ? 'there was no more time' : undefined) };
  }

  #next(): void {
    while (!this.#isOver && this.#underWay < AT_ONCE && this.#waiting.length > 0) {
      this.#underWay += 1;
      void this.#waiting.shift()!().then(() => {
        this.#underWay -= 1;
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
