import type { PhaseOutcome } from '../../model/outcome.js';
import type { Hit, TakenPhases } from '../../model/taken.js';
import type { SheetRecords } from './sheet-records.js';
import { outcomeOf } from './tell-record.js';

/** All phases of a sheet that stands, as a run takes them. */
export class TakenRecords implements TakenPhases {
  #outcomes: ReadonlyMap<string, PhaseOutcome> | undefined;

  constructor(
    private readonly records: SheetRecords,
    readonly runId: string,
    readonly at: number,
  ) {}

  get count(): number {
    return this.records.count;
  }

  id(record: number): string {
    return this.records.id(record);
  }

  hit(record: number): Hit {
    const { rows } = this.records;
    return { cacheHit: 'cross-run', ageMs: rows.age(record, this.at), saved: rows.saved(record) };
  }

  outcome(record: number): PhaseOutcome {
    const { rows } = this.records;
    return outcomeOf(this.id(record), this.records.kind(record), rows.result(record), rows.outputs[record]!, this.at);
  }

  /** Of all. */
  get outcomes(): ReadonlyMap<string, PhaseOutcome> {
    if (!this.#outcomes) {
      const outcomes = new Map<string, PhaseOutcome>();
      for (let record = 0; record < this.count; record++) outcomes.set(this.id(record), this.outcome(record));
      this.#outcomes = outcomes;
    }
    return this.#outcomes;
  }
}
