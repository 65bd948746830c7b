import type { Config } from '../model/config.js';
import type { Project } from '../util/project.js';
import { connectQueue } from './connect.js';
import { openShare } from './share.js';

export interface OpenQueue {
  /** `redis://…`, or `env:NAME`. */
  readonly written: string;
  readonly project: Project;
  readonly config: Config;
}

/** The queue, and the shared store that results and files go through; or what is missing. */
export async function openQueue({ written, project, config }: OpenQueue) {
  const share = await openShare(config, project);
  if ('problem' in share) return share;
  const server = await connectQueue(written, project.env);
  if ('problem' in server) {
    share.close();
    return server;
  }
  return { server, share };
}
