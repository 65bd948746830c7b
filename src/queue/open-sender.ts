import type { Config } from '../model/config.js';
import { formatDuration } from '../util/duration.js';
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

/** Opens what a coordinator needs, or says what is missing. `notices`: what a person should know before the run. */
export async function openSender({ written, config, ...options }: OpenSender) {
  const { project } = options;
  const address = queueAddress(written, project.env);
  if ('problem' in address) return address;
  const share = await openShare(config, project);
  if ('problem' in share) return share;
  const server = await connectQueue(address);
  if ('problem' in server) {
    share.close();
    return { ...server, hint: `${server.hint}; --no-workers does everything here` };
  }
  const sender = new QueueSender({ ...options, server, share });
  const [lost, isAttended] = await Promise.all([server.volatile(), sender.isAttended()]);
  const notices: string[] = [];
  if (lost !== undefined) notices.push(`the queue ${address.shown}: ${lost}`);
  if (!isAttended)
    notices.push(`no worker is at ${address.shown} yet: waits ${formatDuration(options.waitMs)} for one`);
  return { sender, notices };
}
