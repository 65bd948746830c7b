import { randomUUID } from 'node:crypto';
import type { Job, Queue, QueueEvents } from 'bullmq';
import type { Sending, UnitAnswer, UnitJob, UnitNews, UnitSender } from '../run/core/unit-job.js';
import { onAbort } from '../util/on-abort.js';
import { pause } from '../util/pause.js';
import type { Project } from '../util/project.js';
import type { QueueServer } from './connect.js';
import { CANCEL_CHANNEL, openReply, orderId, QUEUE, type Sealed, sealOrder } from './message.js';
import { Patience } from './patience.js';
import type { Share } from './share.js';
import { FileSharer } from './share-files.js';
import { watchWorkTree } from './work-tree.js';

export interface SenderOptions {
  readonly server: QueueServer;
  readonly share: Share;
  readonly project: Project;
  /** Units that workers may have at the same time. */
  readonly concurrency: number;
  /** How long to wait for a queue that does not answer. */
  readonly waitMs: number;
  /** When the run is interrupted, workers finish what they have begun. */
  readonly leave: boolean;
}

/** A unit that was sent. */
interface SentUnit {
  readonly key: string;
  readonly sealed: Sealed;
  readonly sending: Sending;
  readonly end: (answer: UnitAnswer) => void;
  lookedAt: number;
  isLooking: boolean;
  /** A worker has begun it. */
  begun: boolean;
  sent: number;
  /** Why the queue did not take it, the last time. */
  refused?: string;
}

/** How long answers stay in the queue, for their coordinators to read. */
const KEEP_SECONDS = 600;
const LOOK_MS = 1_000;
/** A unit that vanishes from the queue more often than this is done here. */
const MOST_SENT = 5;

/**
 * Sends units to workers and waits for them. Events of the queue are hints: each unit is also checked once a second, so
 * that a lost event costs a second. The result comes from the store, not from the queue.
 */
export class QueueSender implements UnitSender {
  readonly concurrency: number;
  readonly #away = new Map<string, SentUnit>();
  readonly #promises = new Map<string, Promise<UnitAnswer>>();
  readonly #background = new Set<Promise<unknown>>();
  readonly #queue: Queue;
  readonly #events: QueueEvents;
  readonly #tree: ReturnType<typeof watchWorkTree>;
  readonly #files: FileSharer;
  readonly #timer: NodeJS.Timeout;
  readonly #patience: Patience;

  constructor(private readonly options: SenderOptions) {
    const { server, project, share, concurrency } = options;
    this.concurrency = concurrency;
    this.#queue = new server.bullmq.Queue(QUEUE, { connection: server.redis });
    this.#events = new server.bullmq.QueueEvents(QUEUE, { connection: server.another() });
    // Without a listener an error ends the process. `Patience` checks whether the queue answers.
    this.#queue.on('error', () => {});
    this.#events.on('error', () => {});
    this.#tree = watchWorkTree(project);
    this.#files = new FileSharer(project, share);
    this.#patience = new Patience({ server, queue: this.#queue, waitMs: options.waitMs, clock: project.clock });
    this.#listen();
    this.#timer = setInterval(() => this.#tick(), LOOK_MS);
  }

  send(job: UnitJob, sending: Sending): Promise<UnitAnswer> {
    const known = this.#promises.get(job.key);
    if (known) return known;
    const answer = this.#send(job, sending).finally(() => this.#promises.delete(job.key));
    this.#promises.set(job.key, answer);
    return answer;
  }

  async #send(job: UnitJob, sending: Sending): Promise<UnitAnswer> {
    const { trouble } = this.#patience;
    if (trouble !== undefined) return { stays: trouble };
    const tree = await this.#tree();
    if ('failed' in tree) return { stays: tree.failed };
    const overlay = await this.#files.overlay(sending.files, tree);
    if ('failed' in overlay) return { stays: overlay.failed };
    if (sending.signal.aborted) return INTERRUPTED;
    const { commit, prefix, absent } = tree;
    const order = { id: randomUUID(), commit, prefix, absent, files: overlay.files, job };
    const sealed = sealOrder(order, this.options.share.signer);
    return new Promise((resolve) => {
      const away: SentUnit = {
        ...{ key: job.key, sealed, sending, lookedAt: this.#now(), isLooking: false, begun: false, sent: 0 },
        end: (answer) => {
          forget();
          this.#away.delete(job.key);
          resolve(answer);
        },
      };
      const forget = onAbort(sending.signal, () => {
        this.#inBackground(this.#cancel(job.key));
        away.end(INTERRUPTED);
      });
      this.#away.set(job.key, away);
      this.#inBackground(this.#put(away));
    });
  }

  async isAttended(): Promise<boolean> {
    return (await this.#queue.getWorkersCount().catch(() => 1)) > 0;
  }

  /** Ends all waiting. Call it once the run has ended. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const away of [...this.#away.values()]) away.end(INTERRUPTED);
    await Promise.race([Promise.all(this.#background), pause(CLOSE_MS, undefined)]);
    this.options.server.close();
    this.options.share.close();
  }

  #listen(): void {
    const look = ({ jobId }: { readonly jobId: string }) => {
      const away = this.#away.get(jobId);
      if (away) this.#inBackground(this.#look(away));
    };
    this.#events.on('completed', look);
    this.#events.on('failed', look);
    this.#events.on('removed', look);
    this.#events.on('progress', ({ jobId, data }) => {
      const away = this.#away.get(jobId);
      const { worker, ...news } = data as unknown as UnitNews;
      if (!away || typeof worker !== 'string') return;
      begin(away, worker);
      if (Object.keys(news).length > 0) away.sending.onNews({ worker, ...news });
    });
  }

  /** Joins a job of this key that another coordinator sent, unless it is answered: an answer belongs to its order. */
  async #put(away: SentUnit): Promise<void> {
    away.sent += 1;
    away.lookedAt = this.#now();
    const before = await this.#queue.getJob(away.key);
    if (before?.finishedOn !== undefined) await before.remove();
    if (before && before.finishedOn === undefined) return;
    if (!this.#away.has(away.key)) return;
    const keep = { age: KEEP_SECONDS };
    try {
      await this.#queue.add('unit', away.sealed, { jobId: away.key, removeOnComplete: keep, removeOnFail: keep });
    } catch (error) {
      // A full server, say: it does answer, so `Patience` does not give it up.
      away.refused = (error as Error).message.split('\n')[0]!;
    }
  }

  async #look(away: SentUnit): Promise<void> {
    if (away.isLooking) return;
    away.isLooking = true;
    try {
      const job = await this.#queue.getJob(away.key);
      away.lookedAt = this.#now();
      if (this.#away.get(away.key) !== away) return;
      if (job?.finishedOn !== undefined) {
        const answer = this.#answerOf(away, job);
        // The job may be finished before its events arrive.
        if (!('stays' in answer)) begin(away, answer.worker);
        away.end(answer);
      } else if (job?.processedOn !== undefined) begin(away, job.processedBy);
      else if (!job) await this.#vanished(away);
    } finally {
      away.isLooking = false;
    }
  }

  /** The queue lost the job, or another coordinator removed it: the store shows whether the unit is done. */
  async #vanished(away: SentUnit): Promise<void> {
    if (await away.sending.isStored()) away.end({ done: true });
    else if (away.sent < MOST_SENT) await this.#put(away);
    else away.end({ stays: `the queue does not keep it: ${away.refused ?? 'it was lost again and again'}` });
  }

  #answerOf({ key }: SentUnit, { returnvalue, failedReason, data }: Job): UnitAnswer {
    if (returnvalue) return openReply(returnvalue, this.options.share.trust, { key, order: orderId(data) });
    if (!/stalled/.test(failedReason ?? '')) return { stays: `a worker could not do it: ${failedReason}` };
    const failure = { code: 'signal', message: 'every worker that had it was lost', hint: LOST_HINT } as const;
    return { failure, status: 'failed' };
  }

  async #cancel(key: string): Promise<void> {
    try {
      const job = await this.#queue.getJob(key);
      if (job?.processedOn === undefined) return void (await job?.remove());
    } catch {
      // A worker has begun it meanwhile.
    }
    if (!this.options.leave) await this.options.server.redis.publish(CANCEL_CHANNEL, key);
  }

  #tick(): void {
    const now = this.#now();
    const { trouble } = this.#patience;
    if (trouble !== undefined) this.#giveUp(trouble);
    this.#inBackground(this.#patience.ask(this.#away.size > 0));
    for (const away of this.#away.values()) {
      if (now - away.lookedAt >= LOOK_MS) this.#inBackground(this.#look(away));
    }
  }

  #giveUp(why: string): void {
    for (const away of [...this.#away.values()]) {
      this.#inBackground(this.#cancel(away.key));
      away.end({ stays: why });
    }
  }

  /** Ignores errors of the queue: the next check tries again, and `Patience` gives up in the end. */
  #inBackground(work: Promise<unknown>): void {
    const quiet = work.catch(() => {}).finally(() => this.#background.delete(quiet));
    this.#background.add(quiet);
  }

  #now(): number {
    return this.options.project.clock.elapsed();
  }
}

function begin(away: SentUnit, worker = 'a worker'): void {
  if (away.begun) return;
  away.begun = true;
  away.sending.onBegun();
  away.sending.onNews({ worker });
}

const INTERRUPTED: UnitAnswer = { stays: 'interrupted' };
const LOST_HINT = 'Look at the machines of the workers: the unit may take more memory than they have.';
const CLOSE_MS = 2_000;
