import type { Config } from '../model/config.js';
import type { Project } from '../util/project.js';
import { queueAddress } from './address.js';
import { connectQueue } from './connect.js';
import { QueueSender, type SenderOptions } from './sender.js';
import { openShare } from './share.js';

export interface OpenSender extends Pick<SenderOptions, 'concurrency' | 'waitMs' | 'leave'> {
  /** `redis://…`, or `env:NAME`. */
  readonly written: string;
  readonly project: Project;
  readonly config: Config;
}

/** Opens what a coordinator needs, or says what is missing. `notice`: what a person should know before the run. */
export async function openSender({ written, config, ...options }: OpenSender) {
  const { project } = options;
  const address = queueAddress(written, project.env);
  if ('problem' in address) return address;
  const share = await openShare(config, project);
  if ('problem' in share) return share;
  const server = await connectQueue(address);
  if ('problem' in server) {
    share.close();
    return server;
  }
  const lost = await server.volatile();
  const sender = new QueueSender({ ...options, server, share });
  return lost === undefined ? { sender } : { sender, notice: `the queue ${address.shown}: ${lost}` };
}
