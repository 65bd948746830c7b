import type { RunEvent } from '../model/event.js';

/** Something under way: its events and its result. */
interface Handle<Result, Event = RunEvent> {
  readonly events: AsyncIterable<Event>;
  readonly result: Promise<Result>;
}

export function handleOf<Result, Event = RunEvent>(
  begin: (onEvent: (event: Event) => void) => Promise<Result>,
): Handle<Result, Event> {
  const queue = new EventQueue<Event>();
  const result = begin((event) => queue.push(event)).finally(() => queue.end());
  // A program that reads only events must not die of a rejected result that it does not await.
  result.catch(() => {});
  return { events: queue, result };
}

/** As above, but events are kept only once there is a reader: a batch may have more than memory holds. */
export function quietHandleOf<Result>(begin: (onEvent: (event: RunEvent) => void) => Promise<Result>): Handle<Result> {
  let queue: EventQueue<RunEvent> | undefined;
  let ended = false;
  const result = begin((event) => queue?.push(event)).finally(() => {
    ended = true;
    queue?.end();
  });
  result.catch(() => {});
  return {
    get events() {
      queue ??= new EventQueue<RunEvent>();
      if (ended) queue.end();
      return queue;
    },
    result,
  };
}

/** Buffers events for a reader that may be slower than the run. */
class EventQueue<Event> implements AsyncIterable<Event> {
  readonly #events: Event[] = [];
  #wake: () => void = () => {};
  #ended = false;

  push(event: Event): void {
    this.#events.push(event);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Event> {
    for (let index = 0; ; ) {
      while (index < this.#events.length) yield this.#events[index++]!;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
