import type { Config } from '../../model/config.js';
import type { Project } from '../../util/project.js';
import { queueAddress } from '../address.js';
import { connectQueue } from '../connect.js';
import { openShare } from '../share.js';
import { Checkouts } from './checkouts.js';
import type { Workshop } from './perform.js';
import { type ServeOptions, serve } from './serve.js';

export interface OpenWorker
  extends Pick<Workshop, 'name' | 'allow'>,
    Pick<ServeOptions, 'concurrency' | 'lockMs' | 'onDone' | 'onQueue'> {
  /** `redis://…`, or `env:NAME`. */
  readonly written: string;
  readonly project: Project;
  readonly config: Config;
  /** Whose commits are checked out; default: the project's own. */
  readonly repository?: string;
}

/** Opens what a worker needs and begins to serve, or says what is missing. */
export async function openWorker({ written, project, config, name, allow, repository, ...how }: OpenWorker) {
  const address = queueAddress(written, project.env);
  if ('problem' in address) return address;
  const share = await openShare(config, project);
  if ('problem' in share) return share;
  const server = await connectQueue(address);
  if ('problem' in server) {
    share.close();
    return server;
  }
  const checkouts = new Checkouts({ ...project, root: repository ?? project.root }, how.concurrency + 2);
  const serving = serve({ ...how, server, workshop: { name, allow, project, config, share, checkouts } });
  return { shown: address.shown, notice: await server.volatile(), close: () => serving.close() };
}
