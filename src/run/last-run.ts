import type { JsonObject } from '../model/json.js';
import type { Status } from '../model/outcome.js';
import type { Store } from '../store/store.js';
import { readLineAt, resultName, resultPlaces } from './journal/reader.js';
import type { LinePlace } from './journal/writer.js';

/** How a phase or unit stood in the last run of the same flow. */
export interface LastResult {
  readonly key?: string;
  readonly status: Status;
  readonly identity?: JsonObject;
}

interface LastJournal {
  readonly path: string;
  /** Places, not results: the last run may have been a batch of many thousand rows. */
  readonly places: ReadonlyMap<string, LinePlace>;
}

/** The last run of the same flow, read only when a miss has to be explained. */
export class LastRun {
  #journal: LastJournal | undefined;

  constructor(
    private readonly journalPath: () => string | undefined,
    private readonly store: Store | undefined,
    private readonly now: () => number,
  ) {}

  of(path: string, unit: string | undefined): LastResult | undefined {
    this.#journal ??= this.#read();
    const place = this.#journal.places.get(resultName(path, unit));
    const line = place && readLineAt(this.#journal.path, place);
    if (line?.type !== 'unit' && line?.type !== 'phase') return undefined;
    const { key, status, identity } = line;
    const found: LastResult = { key, status, identity };
    if (identity !== undefined || key === undefined || !this.store) return found;
    // It was reused last time: what it was made from stands in its entry.
    const got = this.store.get(key, { now: this.now() });
    return 'entry' in got ? { ...found, identity: got.entry.identity } : found;
  }

  #read(): LastJournal {
    const path = this.journalPath();
    return path === undefined ? { path: '', places: new Map() } : { path, places: resultPlaces(path) };
  }
}
