import { type HolderIdentity, holderIdentity, sharesProcessIds } from '../../process/process-identity.js';
import type { RunContext } from '../context/context.js';

/** Every process that a run starts can be found by this, however far it fled. */
const RUN_VARIABLE = 'TASKFLOW_RUN';

export function runMark({ runId, limits: { processes } }: RunContext): Record<string, string> {
  processes.marked += 1;
  return { [RUN_VARIABLE]: runId };
}

const environments = new WeakMap<RunContext, Readonly<Record<string, string | undefined>>>();

/** The project's variables with the mark. Made once: a copy of a process's environment costs as much as a request. */
export function markedEnvironment(run: RunContext): Readonly<Record<string, string | undefined>> {
  let environment = environments.get(run);
  if (!environment) {
    environment = { ...run.options.project.env, ...runMark(run) };
    environments.set(run, environment);
  }
  return environment;
}

/** Waits for what nobody waits for, uploads among it, then ends what programs of the run have left behind. */
export async function windDown(run: RunContext): Promise<void> {
  await Promise.all(run.limits.background);
  await run.reuse.store?.settle?.();
  if (run.limits.processes.marked > 0) await endLeftovers(run.runId, holderIdentity());
}

/** Also for a run whose own process is dead. */
export async function endLeftovers(runId: string, owner: HolderIdentity): Promise<void> {
  if (!sharesProcessIds(owner)) return;
  const { endMarked } = await import('../../process/end-marked.js');
  await endMarked(`${RUN_VARIABLE}=${runId}`, { since: owner.startTicks });
}
