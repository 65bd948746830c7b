import type { Queue } from 'bullmq';
import type { Clock } from '../util/clock.js';
import { formatDuration } from '../util/duration.js';
import type { QueueServer } from './connect.js';

interface PatienceOptions {
  readonly server: QueueServer;
  readonly queue: Queue;
  readonly waitMs: number;
  readonly clock: Clock;
}

/** Measures for how long the queue has not answered, and for how long it has had no worker. */
export class Patience {
  #answeredAt: number;
  #attendedAt: number;
  #isAsking = false;

  constructor(private readonly options: PatienceOptions) {
    this.#answeredAt = options.clock.elapsed();
    this.#attendedAt = this.#answeredAt;
  }

  /** Asks the queue. `wantsWorker`: a unit waits for a worker. */
  async ask(wantsWorker: boolean): Promise<void> {
    if (!wantsWorker) this.#attendedAt = this.#now();
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const { server, queue } = this.options;
      const workers = wantsWorker ? await queue.getWorkersCount() : (await server.redis.ping()).length;
      this.#answeredAt = this.#now();
      if (workers > 0) this.#attendedAt = this.#answeredAt;
    } finally {
      this.#isAsking = false;
    }
  }

  /** Why to stop waiting; undefined while there is no reason. */
  get trouble(): string | undefined {
    const { server, waitMs } = this.options;
    const now = this.#now();
    const { shown } = server.address;
    if (now - this.#answeredAt > waitMs) return `the queue ${shown} has not answered for ${formatDuration(waitMs)}`;
    return now - this.#attendedAt > waitMs ? `no worker is at ${shown}` : undefined;
  }

  #now(): number {
    return this.options.clock.elapsed();
  }
}
