import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Config } from '../../model/config.js';
import type { RunEventBody } from '../../model/event.js';
import { NO_USAGE } from '../../model/outcome.js';
import { endedAs, type Settled } from '../../run/core/execution.js';
import type { RenderedBody, UnitAnswer } from '../../run/core/unit-job.js';
import { runJob } from '../../run/start/run-job.js';
import type { Project } from '../../util/project.js';
import type { Order } from '../message.js';
import type { Share } from '../share.js';
import type { Checkouts } from './checkouts.js';
import { overlay } from './overlay.js';

/** A worker's own resources. */
export interface Workshop {
  readonly name: string;
  readonly project: Project;
  readonly config: Config;
  readonly share: Share;
  readonly checkouts: Checkouts;
  /** `runner:NAME` and `program:NAME`; undefined: everything in a signed job. */
  readonly allow: ReadonlySet<string> | undefined;
}

interface Performing {
  readonly signal: AbortSignal;
  readonly emit: (event: RunEventBody) => void;
  /** Whether the unit is still this worker's. */
  readonly isHeld: () => Promise<boolean>;
}

/** Does one unit, and puts its result into the shared store. The sender does what the worker refuses. */
export async function perform(workshop: Workshop, order: Order, performing: Performing): Promise<UnitAnswer> {
  const refused = notAllowed(workshop, order.job.body);
  if (refused !== undefined) return { stays: refused };
  const checkout = await workshop.checkouts.enter(order.commit);
  if ('failed' in checkout) return { stays: checkout.failed };
  try {
    const root = join(checkout.path, order.prefix);
    const problem = await overlay(root, order, workshop.share);
    if (problem !== undefined) return { stays: problem };
    return await inCheckout(workshop, order, { ...performing, root });
  } finally {
    workshop.share.disk.log.flush();
    checkout.leave();
  }
}

async function inCheckout(
  { name, project, config, share }: Workshop,
  { job }: Order,
  { root, signal, emit, isHeld }: Performing & { readonly root: string },
): Promise<UnitAnswer> {
  const cache = share.cache();
  const end = await runJob({
    job,
    runId: `unit-${randomUUID()}`,
    project: { ...project, root },
    // One store for all checkouts of this worker.
    config: { ...config, cache: { ...config.cache, dir: share.disk.options.dir, dirFrom: 'user' } },
    signal,
    emit,
    fetch: (key, options) => cache.fetch(key, options),
  });
  if ('refused' in end) return { stays: end.refused };
  const { settled, keys } = end;
  const said = { worker: name, attempts: settled.attempts, inputs: settled.inputs };
  const usage = settled.origin.hit === null ? settled.usage : NO_USAGE;
  if (settled.status !== 'done') {
    if (signal.aborted) return { stays: 'it was cancelled', usage };
    return { ...said, ...endOf(settled), usage, status: endedAs(settled).status, failure: settled.failure! };
  }
  if (settled.origin.hit === null && !settled.kept) return { stays: settled.remark ?? 'its result is not kept', usage };
  const problem = settled.origin.shared ? undefined : await deliver(share, keys, isHeld);
  if (problem !== undefined) return { stays: `its result was not uploaded: ${problem}`, usage };
  return { ...said, ...endOf(settled), usage, done: true };
}

function endOf({ result }: Settled) {
  return { durationMs: result.cost.durationMs };
}

/**
 * Puts the entries under these keys into the shared store. If another worker did so meanwhile, because this one was
 * taken for dead, that result counts and the own one is dropped. Returns what went wrong.
 */
async function deliver(
  share: Share,
  keys: readonly string[],
  isHeld: () => Promise<boolean>,
): Promise<string | undefined> {
  const { disk } = share;
  const { now } = disk.options.project.clock;
  const cache = share.cache();
  const [result] = keys as [string];
  if (await cache.has(result)) {
    const taken = await cache.fetch(result, { now: now() });
    if ('fetched' in taken) return undefined;
  } else if (!(await isHeld())) {
    return 'the queue no longer gives the unit to this worker';
  }
  for (const key of keys) {
    const got = disk.peek(key, { now: now() });
    if ('miss' in got) return got.miss.reason;
    const problem = await cache.upload(got.entry);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function notAllowed({ allow }: Workshop, body: RenderedBody | undefined): string | undefined {
  if (!allow || !body) return undefined;
  const used = body.type === 'task' ? `runner:${body.agent['runner']}` : `program:${programOf(body.run)}`;
  return allow.has(used) ? undefined : `the worker does not allow ${used}`;
}

function programOf(run: string | readonly string[]): string {
  return typeof run === 'string' ? 'sh' : (run[0] ?? '');
}
