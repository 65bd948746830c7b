import type { RunEventBody } from '../../model/event.js';
import type { Kind } from '../../model/kind.js';
import { NO_USAGE, type Output, type PhaseOutcome } from '../../model/outcome.js';
import type { Clock } from '../../util/clock.js';
import { type Ledger, savingsOf } from '../budget.js';
import { ageReason, costInFull } from '../journal/reused-line.js';
import type { JournalWriter } from '../journal/writer.js';
import type { KeptResult } from './kept-rows.js';
import type { SheetRecords } from './sheet-records.js';

/** Where a phase that stands is told. */
export interface Telling {
  readonly clock: Clock;
  readonly journal: JournalWriter;
  readonly ledger: Ledger;
  readonly emit: (event: RunEventBody) => void;
}

const NO_FILES: readonly [] = [];

/** A phase that stands is done: written down, counted and told like one that was found in the store. */
export function tellRecord(
  { clock, journal, ledger, emit }: Telling,
  records: SheetRecords,
  record: number,
): PhaseOutcome {
  const now = clock.now();
  const { rows } = records;
  const id = records.id(record);
  rows.write(journal, now, record, record + 1);
  const outcome = outcomeOf(id, records.kind(record), rows.result(record), rows.outputs[record]!, now);
  ledger.save(outcome.saved);
  emit({ type: 'phase-end', phase: id, outcome });
  return outcome;
}

export function outcomeOf(
  id: string,
  kind: Kind,
  result: KeptResult,
  output: Output,
  now: number,
): PhaseOutcome & Required<Pick<PhaseOutcome, 'saved'>> {
  const { key, madeAt, model } = result;
  return {
    id,
    kind,
    status: 'done',
    cacheHit: 'cross-run',
    ageMs: Math.max(0, now - madeAt),
    reason: ageReason(madeAt, now),
    key,
    output,
    files: NO_FILES,
    attempts: 0,
    durationMs: 0,
    usage: NO_USAGE,
    saved: savingsOf(costInFull(result)),
    model,
  };
}
