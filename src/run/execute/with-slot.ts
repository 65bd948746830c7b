import type { Failure } from '../../model/failure.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { PooledRunner } from '../context/runner-pool.js';
import { notStarted } from '../core/cancelled.js';
import { type Execution, failedBefore } from '../core/execution.js';
import type { Slots } from './slots.js';
import type { Pass } from './usage-gate.js';

type Bounds = Pick<PooledRunner, 'slots' | 'pace' | 'gate' | 'runner'>;

/**
 * Waits for a slot of the run and of its runner, then asks whether work may still start: while it waited, something may
 * have failed, the budget may have run out, a person may have pressed Ctrl-C.
 */
export async function admitted(
  at: PhaseContext,
  runner: Bounds | undefined,
  work: () => Promise<Execution>,
): Promise<Execution> {
  for (;;) {
    const entering = runner?.gate.enter(() => [at.signal, at.scope.admission.ended]);
    const pass = entering instanceof Promise ? await entering : entering;
    if (pass === 'aborted') return failedBefore(mayNotStart(at) ?? notStarted(at));
    if (pass && 'failure' in pass) {
      const status = pass.how === 'pauses' ? 'paused' : 'failed';
      return { ...failedBefore(pass.failure), status };
    }
    const waiting = slotOf(at, { runner, slots: at.run.limits.slots });
    const release = waiting instanceof Promise ? await waiting : waiting;
    let execution: Execution | undefined;
    try {
      const closed = mayNotStart(at);
      if (closed) execution = failedBefore(closed);
      else if (!runner || !pass) execution = await work();
      else if (runner.gate.admits(pass)) execution = judged(at, { runner, pass, execution: await work() });
    } finally {
      // The gate hears of the call before its slot is free for the next one.
      release();
      // Others wait for a call that goes first, whatever becomes of it.
      if (pass && !(execution && isAnswered(execution))) runner?.gate.leave(pass);
    }
    if (execution) return execution;
  }
}

/** What was stopped before the provider answered shows nothing about the limit. */
function isAnswered({ status, attempts }: Execution): boolean {
  return attempts > 0 && status !== 'cancelled';
}

/** Reports to the gate how a call went. */
function judged(
  at: PhaseContext,
  { runner, pass, execution }: { readonly runner: Bounds; readonly pass: Pass; readonly execution: Execution },
): Execution {
  const { run } = at;
  if (!isAnswered(execution)) return execution;
  if (execution.failure?.code !== 'usage-limit') {
    runner.gate.passed(pass);
    return execution;
  }
  const leftMs = run.limits.endsAt === undefined ? undefined : run.limits.endsAt - run.options.project.clock.elapsed();
  const { failure, closed } = runner.gate.refused(execution.failure, leftMs);
  if (closed) {
    const error = run.io.secrets.mask(execution.failure.message);
    const met = { phase: at.path, runner: runner.runner.name, ...closed, error };
    run.io.journal.write({ type: 'limit', at: run.options.project.clock.now(), ...met });
    run.io.emit({ type: 'limit', ...met });
  }
  return { ...execution, failure };
}

interface SlotWanted {
  readonly runner: Pick<PooledRunner, 'slots' | 'pace'> | undefined;
  readonly slots: Slots;
}

/**
 * Waits until the runner's own bounds have room, then for one of these slots: whoever waits for a runner should not sit
 * on a slot that others could use. Returns what gives both back.
 */
export function slotOf(at: PhaseContext, { runner, slots }: SlotWanted): (() => void) | Promise<() => void> {
  return runner?.slots || runner?.pace ? boundedSlot(at, { runner, slots }) : slots.acquire();
}

async function boundedSlot(at: PhaseContext, { runner, slots }: SlotWanted): Promise<() => void> {
  const giveBack = await runner?.slots?.acquire();
  if (runner?.pace && !mayNotStart(at)) await runner.pace(at.signal);
  const release = await slots.acquire();
  return () => {
    release();
    giveBack?.();
  };
}

/** Why nothing more may begin; a budget that is used up closes the run. */
export function mayNotStart(at: PhaseContext): Failure | undefined {
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
