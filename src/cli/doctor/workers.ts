import { queueAddress } from '../../queue/address.js';
import type { Check, DoctorContext } from './check.js';

const name = 'workers';

/** The queue of the settings; with --probe, whether it answers, its workers, and what a restart would lose. */
export const checkWorkers: Check = async ({ project, config, probe }) => {
  const written = config.workers?.url;
  if (written === undefined) return [];
  const address = queueAddress(written, project.env);
  if ('problem' in address) return [{ name, status: 'problem', message: address.problem, hint: address.hint }];
  if (!probe) return [{ name, status: 'ok', message: `the queue is ${address.shown}; --probe asks it` }];
  const { listWorkers } = await import('../../queue/list-workers.js');
  const listed = await listWorkers(written, project);
  if ('problem' in listed) return [{ name, status: 'problem', message: listed.problem, hint: listed.hint }];
  const { queue, workers, waiting, volatile } = listed.state;
  const message = `${queue} answers: ${workers.length} there, ${waiting} units wait`;
  if (volatile === undefined) return [{ name, status: 'ok', message }];
  return [{ name, status: 'warning', message: `${message}; ${volatile}`, hint: 'set appendonly yes in the server' }];
};

/** Describes what probing it will do. */
export function plannedWorkers({ project, config }: DoctorContext): readonly string[] {
  const address = config.workers?.url === undefined ? undefined : queueAddress(config.workers.url, project.env);
  return address && 'shown' in address ? [`workers: asks the queue ${address.shown}`] : [];
}
