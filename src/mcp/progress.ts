import type { ServerContext } from '@modelcontextprotocol/server';
import type { RunEvent } from '../model/event.js';
import { systemClock } from '../util/clock.js';

/** Pause between messages, so that a batch of thousands of rows does not flood its client. */
const PAUSE_MS = 200;

/** Reports progress to a client that asked for it: a step for each phase, or for each row of a batch. */
export class ProgressNotifier {
  readonly #token: string | number | undefined;
  #total: number | undefined;
  #rows = false;
  #done = 0;
  readonly #begun = new Set<string>();
  #last = Number.NEGATIVE_INFINITY;

  constructor(private readonly context: ServerContext) {
    this.#token = context.mcpReq._meta?.progressToken;
  }

  async event(event: RunEvent): Promise<void> {
    const message = this.#step(event);
    const now = systemClock.elapsed();
    const tooSoon = this.#rows && now - this.#last < PAUSE_MS && this.#done !== this.#total;
    if (message === undefined || tooSoon) return;
    this.#last = now;
    await this.#tell(message);
  }

  /** A step where the total is not known. */
  async line(message: string): Promise<void> {
    this.#done += 1;
    await this.#tell(message);
  }

  async #tell(message: string): Promise<void> {
    if (this.#token === undefined) return;
    const params = { progressToken: this.#token, progress: this.#done, total: this.#total, message };
    // The client may have disconnected; the run goes on.
    await this.context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  }

  /** A phase that begins counts as half a step, because the number must grow with each message. */
  #step(event: RunEvent): string | undefined {
    switch (event.type) {
      case 'run-start':
        this.#total = event.rows ?? event.phases.length;
        this.#rows = event.rows !== undefined;
        return undefined;
      case 'phase-start':
        if (this.#rows || event.phase.includes('/')) return undefined;
        this.#begun.add(event.phase);
        this.#done += 0.5;
        return `${event.phase} runs: ${event.reason}`;
      case 'phase-end': {
        if (this.#rows || event.phase.includes('/')) return undefined;
        this.#done += this.#begun.has(event.phase) ? 0.5 : 1;
        const { status, cacheHit, reason } = event.outcome;
        return `${event.phase} ${status}${cacheHit === null ? '' : ' (reused)'}${reason ? `: ${reason}` : ''}`;
      }
      case 'row-end':
        this.#done += 1;
        return `row ${event.row} ${event.status}`;
      default:
        return undefined;
    }
  }
}
