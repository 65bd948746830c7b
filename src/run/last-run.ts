import type { JsonObject } from '../model/json.js';
import type { Status } from '../model/outcome.js';
import type { Store } from '../store/store.js';
import { readLineAt, readLines } from './journal/reader.js';
import type { LinePlace } from './journal/writer.js';

/** How a phase or unit stood in the last run of the same flow. */
export interface LastResult {
  readonly key?: string;
  readonly status: Status;
  readonly identity?: JsonObject;
}

interface PlacedResult {
  readonly journal: string;
  readonly place: LinePlace;
  readonly key?: string;
  readonly status: Status;
}

/** The last run of the same flow, read only when a miss has to be explained. */
export class LastRun {
  /** Places, not identities: the last run may have been a batch of many thousand rows. */
  #results: Map<string, PlacedResult> | undefined;

  constructor(
    private readonly journalPath: () => string | undefined,
    private readonly store: Store | undefined,
    private readonly now: () => number,
  ) {}

  of(path: string, unit: string | undefined): LastResult | undefined {
    this.#results ??= this.#read();
    const known = this.#results.get(unit === undefined ? path : `${path} ${unit}`);
    if (!known) return undefined;
    const line = readLineAt(known.journal, known.place);
    const identity = line?.type === 'unit' || line?.type === 'phase' ? line.identity : undefined;
    const found: LastResult = { key: known.key, status: known.status, identity };
    if (identity !== undefined || found.key === undefined || !this.store) return found;
    // It was reused last time: what it was made from stands in its entry.
    const got = this.store.get(found.key, { now: this.now() });
    return 'entry' in got ? { ...found, identity: got.entry.identity } : found;
  }

  #read(): Map<string, PlacedResult> {
    const results = new Map<string, PlacedResult>();
    const journal = this.journalPath();
    if (journal === undefined) return results;
    for (const { line, offset, length } of readLines(journal)) {
      if (line.type !== 'unit' && line.type !== 'phase') continue;
      const { key, status } = line;
      const name = line.unit === undefined ? line.phase : `${line.phase} ${line.unit}`;
      results.set(name, { journal, place: { offset, length }, key, status });
    }
    return results;
  }
}
