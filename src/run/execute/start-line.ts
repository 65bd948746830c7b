import { mayBeCrossRun } from '../../model/kind.js';
import type { ChildIdentity } from '../../process/process.js';
import type { PhaseContext } from '../context/phase-context.js';

/** Survivors of a killed run are found by these lines and ended before it is continued. */
export function journalChild(at: PhaseContext, child: ChildIdentity): void {
  const { journal, options, processes } = at.run;
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

/** An execution begins. For a side effect this must be on the disk before it happens. */
export function journalStart(
  at: PhaseContext,
  { unit, runKey, reason }: { readonly unit?: string; readonly runKey?: string; readonly reason: string },
  acts: boolean,
): void {
  const { journal, options } = at.run;
  // A decision changes nothing in the world, and a nested flow only through its own phases.
  const idempotent = at.phase.idempotent || !acts || !mayBeCrossRun(at.phase.kind);
  journal.write(
    { type: 'start', at: options.project.clock.now(), phase: at.path, idempotent, unit, runKey, reason },
    idempotent ? 'soon' : 'held',
  );
  if (!idempotent) journal.sync();
}
