import type { ServerResponse } from 'node:http';
import { writeHead } from './answer.js';

/** Shows both sides that the connection is alive. */
const BEAT_MS = 15_000;
/** A browser reconnects after this time. */
const RETRY_MS = 1_000;

/** Server-sent events to one browser. Waits for a slow one, so that nothing piles up here. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #over = new AbortController();
  readonly #beat: NodeJS.Timeout;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.once('close', () => this.#over.abort());
    writeHead(response, { type: 'text/event-stream; charset=utf-8', more: { 'x-accel-buffering': 'no' } });
    response.write(`retry: ${RETRY_MS}\n\n`);
    this.#beat = setInterval(() => {
      if (!response.writableNeedDrain) response.write(': beat\n\n');
    }, BEAT_MS).unref();
    this.signal.addEventListener('abort', () => clearInterval(this.#beat), { once: true });
  }

  /** Aborted when the browser has gone. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Resolves once the browser can take more. */
  async send({ id, event, data }: { readonly id: string; readonly event: string; readonly data: unknown }) {
    if (this.signal.aborted) return;
    const text = `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
    if (this.#response.write(text)) return;
    await new Promise<void>((resolve) => {
      this.#response.once('drain', resolve);
      this.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  end(): void {
    this.#response.end();
  }
}
