import type { ChildIdentity } from '../process/process.js';
import type { PhaseContext } from './phase-context.js';

/** Survivors of a killed run are found by these lines and ended before it is continued. */
export function journalChild(at: PhaseContext, child: ChildIdentity): void {
  const { journal, options } = at.run;
  journal.write({
    type: 'child',
    at: options.project.clock.now(),
    phase: at.path,
    pid: child.pid,
    startTicks: child.startTicks,
    mark: child.mark,
  });
}

/** An execution begins. For a side effect this must be on the disk before it happens. */
export function journalStart(
  at: PhaseContext,
  facts: { readonly unit?: string; readonly runKey?: string; readonly reason: string },
): void {
  const { journal, options } = at.run;
  const { idempotent } = at.phase;
  journal.write({ type: 'start', at: options.project.clock.now(), phase: at.path, idempotent, ...facts });
  if (!idempotent) journal.sync();
}
