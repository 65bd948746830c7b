import type { ChildIdentity } from '../../process/process.js';
import type { PhaseContext } from '../context/phase-context.js';

/** Survivors of a killed run are found by these lines and ended before it is continued. */
export function journalChild(at: PhaseContext, child: ChildIdentity): void {
  const {
    options,
    io: { journal },
    limits: { processes },
  } = at.run;
  processes.started += 1;
  journal.write(
    {
      type: 'child',
      at: options.project.clock.now(),
      phase: at.path,
      pid: child.pid,
      startTicks: child.startTicks,
      mark: child.mark,
    },
    at.phase.idempotent ? 'soon' : 'now',
  );
}

/** An execution begins. That a side effect does is on the disk already: `effect` is its line in the ledger. */
export function journalStart(
  at: PhaseContext,
  {
    unit,
    runKey,
    reason,
    effect,
  }: { readonly unit?: string; readonly runKey?: string; readonly reason: string; readonly effect?: string },
): void {
  const {
    options,
    io: { journal },
  } = at.run;
  const idempotent = effect === undefined;
  journal.write(
    { type: 'start', at: options.project.clock.now(), phase: at.path, idempotent, unit, runKey, reason, effect },
    idempotent ? 'soon' : 'now',
  );
}
