import { formatDuration } from '../util/duration.js';
import { type OpenQueue, openQueue } from './open-queue.js';
import { QueueSender, type SenderOptions } from './sender.js';

type OpenSender = OpenQueue & Pick<SenderOptions, 'concurrency' | 'waitMs' | 'leave'>;

/** Opens what a coordinator needs, or says what is missing. `notices`: what a person should know before the run. */
export async function openSender({ written, config, ...options }: OpenSender) {
  const opened = await openQueue({ written, config, project: options.project });
  if ('problem' in opened) return { ...opened, hint: `${opened.hint}; --no-workers does everything here` };
  const { server } = opened;
  const sender = new QueueSender({ ...options, ...opened });
  const [lost, isAttended] = await Promise.all([server.volatile(), sender.isAttended()]);
  const { shown } = server.address;
  const notices: string[] = [];
  if (lost !== undefined) notices.push(`the queue ${shown}: ${lost}`);
  if (!isAttended) notices.push(`no worker is at ${shown} yet: waits ${formatDuration(options.waitMs)} for one`);
  return { sender, notices };
}
