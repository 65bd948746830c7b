import type { RunEventBody } from '../../model/event.js';
import { NO_USAGE, type Output, type PhaseOutcome } from '../../model/outcome.js';
import type { Clock } from '../../util/clock.js';
import { formatDuration } from '../../util/duration.js';
import type { Ledger } from '../budget.js';
import { reusedLine } from '../journal/reused-line.js';
import type { JournalWriter } from '../journal/writer.js';
import type { SheetRecord } from './sheet.js';

/** Where a phase that stands is told. */
export interface Telling {
  readonly clock: Clock;
  readonly journal: JournalWriter;
  readonly ledger: Ledger;
  readonly emit: (event: RunEventBody) => void;
}

/** A phase that stands is done: written down, counted and told like one that was found in the store. */
export function tellRecord({ clock, journal, ledger, emit }: Telling, record: SheetRecord): PhaseOutcome {
  const { id, kind, key, madeAt, output, saved, model, figures } = record;
  const at = clock.now();
  const ageMs = Math.max(0, at - madeAt);
  const reason = `age ${formatDuration(ageMs)}`;
  const outcome: PhaseOutcome = {
    id,
    kind,
    status: 'done',
    cacheHit: 'cross-run',
    ageMs,
    reason,
    key,
    output: JSON.parse(output) as Output,
    files: [],
    attempts: 0,
    durationMs: 0,
    usage: NO_USAGE,
    saved,
    model,
  };
  ledger.save(saved);
  journal.writeText(
    reusedLine({ at, phase: id, kind, reason, key, runKey: key, hit: 'cross-run', madeAt, output, figures }),
  );
  emit({ type: 'phase-end', phase: id, outcome });
  return outcome;
}
