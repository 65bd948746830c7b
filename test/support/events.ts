import type { RunEvent, RunEventBody } from '../../src/model/event.js';
import { NO_OUTPUT, NO_USAGE, type ShownOutcome } from '../../src/model/outcome.js';

/** Start of the made-up runs that the view is tested with. */
export const RUN_STARTED_AT = 1_700_000_000_000;

export function runEvent(body: RunEventBody, at = RUN_STARTED_AT): RunEvent {
  return { ...body, at, runId: 'run-1' } as RunEvent;
}

export function runStart(
  ids: readonly string[],
  needs: (id: string, index: number) => readonly string[] = () => [],
): RunEvent {
  const phases = ids.map((id, index) => ({ id, kind: 'script', needs: needs(id, index) }));
  return runEvent({ type: 'run-start', flow: 'release', phases });
}

export function phaseEnd(
  id: string,
  outcome: Partial<ShownOutcome> = {},
): Extract<RunEvent, { readonly type: 'phase-end' }> {
  const full: ShownOutcome = {
    id,
    kind: 'script',
    status: 'done',
    cacheHit: null,
    reason: 'first time',
    output: NO_OUTPUT,
    files: [],
    attempts: 1,
    durationMs: 1_234,
    usage: NO_USAGE,
    ...outcome,
  };
  return { type: 'phase-end', phase: id, outcome: full, at: RUN_STARTED_AT, runId: 'run-1' };
}
