import type { Settled } from '../core/execution.js';
import { outputBytes } from '../core/output-text.js';
import { PlaceTable } from '../journal/place-table.js';
import type { LinePlace } from '../journal/writer.js';

const MOST_RECENT = 128;
const LARGEST_RECENT = 64 * 1024;

/**
 * What this run has made, by run key. Rows of a batch and nested flows that ask for the same thing share one execution:
 * the first computes, the others wait for it without holding a slot. A failure is not shared.
 */
export class SharedResults {
  readonly #underWay = new Map<string, UnderWay>();
  readonly #places = new PlaceTable();
  /** Results used lately: the set-up phase of ten thousand rows is not read from the disk ten thousand times. */
  #recent = new Map<string, Settled>();
  /** The generation before: dropped as a whole, so that nothing is evicted one by one. */
  #lessRecent = new Map<string, Settled>();
  /** In a dry run: run keys of results that would be made by now. */
  readonly #expected = new Set<string>();

  /** Made in this run, or under way in it. */
  knows(runKey: string): boolean {
    return this.#places.has(runKey) || this.#underWay.has(runKey);
  }

  place(runKey: string): LinePlace | undefined {
    return this.#places.get(runKey);
  }

  /** A result without files that was used lately; one with files is checked against the disk instead. */
  recent(runKey: string): Settled | undefined {
    return this.#recent.get(runKey) ?? this.#lessRecent.get(runKey);
  }

  /** The execution under way, to wait for; resolves to undefined when it did not succeed. */
  underWay(runKey: string): Promise<Settled | undefined> | undefined {
    return this.#underWay.get(runKey)?.wait();
  }

  begin(runKey: string): void {
    this.#underWay.set(runKey, new UnderWay());
  }

  /** Ends what `begin` began; `place` is the journal's line, undefined when it did not succeed. */
  finish(runKey: string, settled: Settled, place: LinePlace | undefined): void {
    if (place) {
      this.#places.set(runKey, place);
      this.#remember(runKey, settled);
    }
    this.#end(runKey, place ? settled : undefined);
  }

  /** The result will not be made after all. */
  abandon(runKey: string): void {
    this.#end(runKey, undefined);
  }

  /** A gate has rejected the result: nothing else in this run may reuse it. */
  forget(runKey: string): void {
    this.#places.delete(runKey);
    this.#recent.delete(runKey);
    this.#lessRecent.delete(runKey);
  }

  expect(runKey: string): void {
    this.#expected.add(runKey);
  }

  expects(runKey: string): boolean {
    return this.#expected.has(runKey);
  }

  #end(runKey: string, settled: Settled | undefined): void {
    const entry = this.#underWay.get(runKey);
    if (!entry) return;
    this.#underWay.delete(runKey);
    entry.finish(settled);
  }

  #remember(runKey: string, settled: Settled): void {
    const { files, output } = settled.result;
    if (files.length > 0 || outputBytes(output) > LARGEST_RECENT) return;
    if (this.#recent.size === MOST_RECENT) {
      this.#lessRecent = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(runKey, settled);
  }
}

/** Makes its promise on demand, since most results have nobody who waits. */
class UnderWay {
  #done: Promise<Settled | undefined> | undefined;
  #finish: ((settled?: Settled) => void) | undefined;

  wait(): Promise<Settled | undefined> {
    this.#done ??= new Promise((resolve) => {
      this.#finish = resolve;
    });
    return this.#done;
  }

  finish(settled?: Settled): void {
    this.#finish?.(settled);
  }
}
