import { type HolderIdentity, holderIdentity, sharesProcessIds } from '../../process/process-identity.js';
import type { RunContext } from '../context/context.js';

/** Every process that a run starts can be found by this, however far it fled. */
export const RUN_VARIABLE = 'TASKFLOW_RUN';

export function runMark({ runId, limits: { processes } }: RunContext): Record<string, string> {
  processes.marked += 1;
  return { [RUN_VARIABLE]: runId };
}

/** Waits for what nobody waits for, then ends what programs of the run have left behind. */
export async function windDown(run: RunContext): Promise<void> {
  await Promise.all(run.limits.background);
  if (run.limits.processes.marked > 0) await endLeftovers(run.runId, holderIdentity());
}

/** Also for a run whose own process is dead. */
export async function endLeftovers(runId: string, owner: HolderIdentity): Promise<void> {
  if (!sharesProcessIds(owner)) return;
  const { endMarked } = await import('../../process/end-marked.js');
  await endMarked(`${RUN_VARIABLE}=${runId}`, { since: owner.startTicks });
}
