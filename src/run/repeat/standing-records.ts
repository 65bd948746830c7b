import type { Seen } from './seen.js';
import { RecordsWriter, type SheetRecords } from './sheet-records.js';

/** Records of a sheet of which some stand, by their numbers: of hundreds that do, hardly anything is asked. */
export class StandingRecords {
  #numbers: ReadonlyMap<string, number> | undefined;

  constructor(
    readonly records: SheetRecords,
    private readonly fallen: ReadonlySet<string>,
    /** Inputs of which the figures are others than the sheet says. */
    private readonly moved: ReadonlyMap<number, readonly Seen[]>,
  ) {}

  /** Which one is of this phase; undefined when it does not stand. */
  find(id: string): number | undefined {
    if (this.fallen.has(id)) return undefined;
    this.#numbers ??= new Map(this.records.rows.columns.id.map((known, record) => [known, record]));
    return this.#numbers.get(id);
  }

  /** As they are now. */
  all(): RecordsWriter {
    const writer = new RecordsWriter();
    for (let record = 0; record < this.records.count; record++) this.copyTo(writer, record);
    return writer;
  }

  copyTo(writer: RecordsWriter, record: number): void {
    writer.copy(this.records, record, this.moved.get(record));
  }
}
