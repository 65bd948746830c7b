import type { Project } from '../util/project.js';
import { connectQueue } from './connect.js';
import { QUEUE, type Sealed } from './message.js';

/** The workers at a queue, and their units. */
export interface WorkersState {
  readonly queue: string;
  readonly workers: readonly { readonly name: string; readonly address: string; readonly units: readonly UnderWay[] }[];
  /** Units that wait for a worker. */
  readonly waiting: number;
  readonly active: number;
  /** What a restart of the queue would lose. */
  readonly volatile?: string;
}

export interface UnderWay {
  readonly key: string;
  readonly run: string;
  readonly path: string;
  readonly unit?: string;
  /** Since the epoch. */
  readonly since?: number;
}

const MOST_LISTED = 1_000;

export async function listWorkers(written: string, { env }: Pick<Project, 'env'>) {
  const server = await connectQueue(written, env);
  if ('problem' in server) return server;
  const queue = new server.bullmq.Queue<Sealed>(QUEUE, { connection: server.redis });
  queue.on('error', () => {});
  try {
    const [clients, active, counts, lost] = await Promise.all([
      queue.getWorkers(),
      queue.getActive(0, MOST_LISTED),
      queue.getJobCounts('waiting', 'active'),
      server.volatile(),
    ]);
    const done = active.map(({ id = '', data, processedBy, processedOn }) => ({
      worker: processedBy,
      unit: { key: id, ...placeOf(data), since: processedOn },
    }));
    const workers = clients.map(({ rawname = '', addr = '' }) => {
      const name = rawname.replace(/^.*?:w:/, '');
      const units = done.filter(({ worker }) => worker === name).map(({ unit }) => unit);
      return { name, address: addr, units };
    });
    const state: WorkersState = {
      queue: server.address.shown,
      workers: workers.sort((a, b) => (a.name < b.name ? -1 : 1)),
      waiting: counts['waiting'] ?? 0,
      active: counts['active'] ?? 0,
      ...(lost !== undefined && { volatile: lost }),
    };
    return { state };
  } finally {
    server.close();
  }
}

/** The signature is not checked: the text is only shown. */
function placeOf({ text }: Sealed): Omit<UnderWay, 'key'> {
  try {
    const { runId, path, unit } = JSON.parse(text).job;
    return { run: String(runId), path: String(path), ...(unit !== undefined && { unit: String(unit) }) };
  } catch {
    // Not a message of ours.
    return { run: '?', path: '?' };
  }
}
