import type { RunEventBody } from '../../model/event.js';
import type { UnitNews } from '../../run/core/unit-job.js';

const EVERY_MS = 500;

/** Sends the progress of a unit, a few times a second at most. Best effort: it may be lost. */
export class NewsReel {
  #next: { -readonly [F in keyof UnitNews]: UnitNews[F] };
  #timer: NodeJS.Timeout | undefined;
  #sent: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly worker: string,
    private readonly send: (news: UnitNews) => Promise<unknown>,
  ) {
    this.#next = { worker };
  }

  begin(): void {
    this.#flush();
  }

  add(event: RunEventBody): void {
    if (event.type !== 'phase-progress') return;
    const { model, turns, usage, tool, text } = event;
    const said = { model, turns, usage, tool, text: text && `${this.#next.text ?? ''}${text}` };
    for (const [name, value] of Object.entries(said))
      if (value !== undefined) Object.assign(this.#next, { [name]: value });
    this.#timer ??= setTimeout(() => this.#flush(), EVERY_MS);
  }

  async end(): Promise<void> {
    if (this.#timer) this.#flush();
    await this.#sent;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const news = this.#next;
    this.#next = { worker: this.worker };
    this.#sent = this.#sent.then(() => this.send(news)).catch(() => {});
  }
}
