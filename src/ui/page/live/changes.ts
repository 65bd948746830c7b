import { signal } from '@preact/signals';

/** `lost`: the server does not answer, and is asked again. */
export const connection = signal<'open' | 'lost'>('open');

const AGAIN_MS = 2_000;

interface Listener {
  readonly runId?: string;
  readonly changed: () => void;
}

/**
 * Reports changes, with one connection for the whole page. A hidden page holds none, because a browser opens only six
 * to one server. When it is visible again, it asks for all changes since.
 */
export class Changes {
  readonly #listeners = new Set<Listener>();
  #events: EventSource | undefined;
  #runId: string | undefined;
  #last = '';
  #retry: ReturnType<typeof setTimeout> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    document.addEventListener('visibilitychange', () => this.#connect());
    addEventListener('online', () => this.#connect());
  }

  /** Calls back whenever the run, or with none the list of runs, has changed. */
  on(listener: Listener): () => void {
    this.#listeners.add(listener);
    this.#connect();
    return () => {
      this.#listeners.delete(listener);
      this.#connect();
    };
  }

  /** Call it when a request got no answer: everything is requested again. */
  again(): void {
    connection.value = 'lost';
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      for (const { changed } of this.#listeners) changed();
    }, AGAIN_MS);
  }

  /** At most one connection, for the run that is shown now. */
  #connect(): void {
    clearTimeout(this.#timer);
    const runId = [...this.#listeners].find((listener) => listener.runId !== undefined)?.runId;
    const isWanted = this.#listeners.size > 0 && !document.hidden;
    if (this.#events && isWanted && runId === this.#runId) return;
    this.#events?.close();
    this.#events = undefined;
    // The state of the list stays; another run has another state.
    if (runId !== this.#runId) this.#last = `${this.#last.split('.')[0]}.`;
    this.#runId = runId;
    if (isWanted) this.#open();
  }

  #open(): void {
    const query = new URLSearchParams({
      since: this.#last,
      ...(this.#runId === undefined ? {} : { run: this.#runId }),
    });
    const events = new EventSource(`/api/events?${query}`);
    this.#events = events;
    events.onopen = () => {
      connection.value = 'open';
    };
    events.onerror = () => {
      connection.value = 'lost';
      if (events.readyState !== EventSource.CLOSED) return;
      // After a refusal the browser does not try again by itself.
      this.#events = undefined;
      this.#timer = setTimeout(() => this.#connect(), AGAIN_MS);
    };
    const heard = (isMeant: (listener: Listener) => boolean) => (event: MessageEvent<string>) => {
      this.#last = event.lastEventId;
      for (const listener of this.#listeners) if (isMeant(listener)) listener.changed();
    };
    events.addEventListener(
      'runs',
      heard(({ runId }) => runId === undefined),
    );
    events.addEventListener(
      'run',
      heard(({ runId }) => runId !== undefined),
    );
    events.addEventListener(
      'gone',
      heard(() => true),
    );
  }
}
