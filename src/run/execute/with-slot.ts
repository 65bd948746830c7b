import type { Failure } from '../../model/failure.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { PooledRunner } from '../context/runner-pool.js';
import { notStarted } from '../core/cancelled.js';
import { type Execution, failedBefore } from '../core/execution.js';

/**
 * Waits for a slot of the run and of its runner, then asks whether work may still start: while it waited, something may
 * have failed, the budget may have run out, a person may have pressed Ctrl-C.
 */
export async function admitted(
  at: PhaseContext,
  runner: Pick<PooledRunner, 'slots' | 'pace'> | undefined,
  work: () => Promise<Execution>,
): Promise<Execution> {
  const releases: (() => void)[] = [];
  try {
    // The runner's own bounds first: whoever waits for them should not sit on one of the run's slots meanwhile.
    if (runner?.slots) releases.push(await runner.slots.acquire());
    if (runner && !mayNotStart(at)) await runner.pace(at.signal);
    releases.push(await at.run.limits.slots.acquire());
    const closed = mayNotStart(at);
    return closed ? failedBefore(closed) : await work();
  } finally {
    for (const release of releases.reverse()) release();
  }
}

function mayNotStart(at: PhaseContext): Failure | undefined {
  const { run } = at;
  if (at.signal.aborted || at.scope.admission.closed) return notStarted(at);
  const over = run.limits.ledger.exceeded();
  if (over === undefined) return undefined;
  const failure: Failure = {
    code: 'budget',
    message: over,
    hint: 'Raise `budget` in the flow or give --max-usd; what is done is kept.',
  };
  run.limits.admission.close(failure);
  return failure;
}
