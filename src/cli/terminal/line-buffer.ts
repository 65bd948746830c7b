import type { Writer } from '../boot/command.js';

const FLUSH_MS = 40;
const FLUSH_CHARACTERS = 32_768;

/** Gathers lines for a moment: a thousand of them are a handful of writes and one timer. Nothing is lost at `flush`. */
export class LineBuffer {
  #text = '';
  #waits = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly out: Pick<Writer, 'write'>) {}

  add(line: string): void {
    this.#text += `${line}\n`;
    if (this.#text.length > FLUSH_CHARACTERS) this.flush();
    else if (!this.#waits) this.#wait();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waits = false;
    const text = this.#text;
    this.#text = '';
    this.out.write(text);
  }

  /** Starts no timer in a process that writes and flushes without a pause. */
  #wait(): void {
    this.#waits = true;
    void Promise.resolve().then(() => {
      if (this.#text !== '') this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS);
    });
  }
}
