import type { Job } from 'bullmq';
import type { RunEventBody } from '../../model/event.js';
import type { UnitAnswer } from '../../run/core/unit-job.js';
import type { QueueServer } from '../connect.js';
import { CANCEL_CHANNEL, openOrder, orderId, QUEUE, type Sealed, sealReply } from '../message.js';
import { NewsReel } from './news.js';
import { perform, type Workshop } from './perform.js';

export interface ServeOptions {
  readonly workshop: Workshop;
  readonly server: QueueServer;
  readonly concurrency: number;
  /** A worker that is silent for this long loses its units to the others. */
  readonly lockMs: number;
  readonly onDone?: (unit: DoneUnit) => void;
  /** The queue is gone, or has come back. */
  readonly onQueue?: (isThere: boolean) => void;
}

export interface DoneUnit {
  readonly path: string;
  readonly answer: UnitAnswer;
}

interface Serving {
  /** Takes no more units, waits for those under way, and closes everything. */
  close(): Promise<void>;
}

/** A unit that has killed this many workers is not given to another. */
const MOST_LOST = 4;

/** Does units from the queue until it is closed. */
export function serve({ workshop, server, concurrency, lockMs, onDone, onQueue }: ServeOptions): Serving {
  const { share, name } = workshop;
  const underWay = new Map<string, AbortController>();
  const answer = async (job: Job<Sealed>, token: string, stop: AbortController): Promise<UnitAnswer> => {
    const opened = openOrder(job.data, share.trust);
    if ('refused' in opened) return { stays: opened.refused };
    const { order } = opened;
    if (order.job.key !== job.id) return { stays: 'the job is not what its id says' };
    const news = new NewsReel(name, (said) => job.updateProgress({ ...said }));
    news.begin();
    try {
      return await perform(workshop, order, {
        signal: stop.signal,
        emit: (event: RunEventBody) => news.add(event),
        isHeld: () => holds(job, token, lockMs),
      });
    } finally {
      await news.end();
    }
  };
  const process = async (job: Job<Sealed>, token = ''): Promise<Sealed> => {
    const key = job.id!;
    const stop = new AbortController();
    underWay.set(key, stop);
    try {
      const said = await answer(job, token, stop);
      onDone?.({ path: pathOf(job.data), answer: said });
      return sealReply({ key, order: orderId(job.data) ?? '', answer: said }, share.signer);
    } finally {
      underWay.delete(key);
    }
  };
  const worker = new server.bullmq.Worker<Sealed, Sealed>(QUEUE, process, {
    connection: server.another(),
    name,
    concurrency,
    // Together less than the lock, so that a lost worker is found within it.
    lockDuration: Math.ceil(lockMs * 0.6),
    stalledInterval: Math.ceil(lockMs * 0.3),
    maxStalledCount: MOST_LOST,
  });
  // Without a listener an error ends the process. The worker waits until the queue is back, or a person ends it.
  worker.on('error', () => {});
  let isThere = true;
  const turn = (now: boolean) => {
    if (isThere !== now) onQueue?.(now);
    isThere = now;
  };
  server.redis.on('close', () => turn(false)).on('ready', () => turn(true));
  const cancels = server.another();
  void cancels.subscribe(CANCEL_CHANNEL).catch(() => {});
  cancels.on('message', (_channel, key: string) => underWay.get(key)?.abort());
  return {
    async close() {
      await worker.close();
      isThere = false;
      await workshop.checkouts.close();
      server.close();
      share.close();
    },
  };
}

async function holds(job: Job, token: string, lockMs: number): Promise<boolean> {
  try {
    return (await job.extendLock(token, Math.ceil(lockMs * 0.6))) === 1;
  } catch {
    // Another worker has the lock, or the queue does not answer.
    return false;
  }
}

function pathOf({ text }: Sealed): string {
  try {
    const { path, unit } = JSON.parse(text).job;
    return unit === undefined ? path : `${path} ${unit}`;
  } catch {
    // Not a message of ours.
    return '?';
  }
}
