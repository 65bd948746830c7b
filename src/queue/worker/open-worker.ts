import { type OpenQueue, openQueue } from '../open-queue.js';
import { Checkouts } from './checkouts.js';
import type { Workshop } from './perform.js';
import { type ServeOptions, serve } from './serve.js';

interface OpenWorker
  extends OpenQueue,
    Pick<Workshop, 'name' | 'allow'>,
    Pick<ServeOptions, 'concurrency' | 'lockMs' | 'onDone' | 'onQueue'> {
  /** Whose commits are checked out; default: the project's own. */
  readonly repository?: string;
}

/** Opens what a worker needs and begins to serve, or says what is missing. */
export async function openWorker({ written, project, config, name, allow, repository, ...how }: OpenWorker) {
  const opened = await openQueue({ written, project, config });
  if ('problem' in opened) return opened;
  const { server, share } = opened;
  const checkouts = new Checkouts({ ...project, root: repository ?? project.root }, how.concurrency + 2);
  const serving = serve({ ...how, server, workshop: { name, allow, project, config, share, checkouts } });
  return { shown: server.address.shown, notice: await server.volatile(), close: () => serving.close() };
}
