import { readFileSync } from 'node:fs';
import type { JsonObject } from '../model/json.js';
import type { Status } from '../model/outcome.js';
import type { Store } from '../store/store.js';
import { statIfThere } from '../util/stat.js';
import type { JournalLine } from './journal/lines.js';
import { readLineAt, resultName, resultPlaces } from './journal/reader.js';
import { searchResult } from './journal/search-results.js';
import type { LinePlace } from './journal/writer.js';

/** How a phase or unit stood in the last run of the same flow. */
export interface LastResult {
  readonly key?: string;
  readonly status: Status;
  readonly identity?: JsonObject;
}

/** So many questions are answered by searching; for more of them it pays to go through the whole journal once. */
const FEW = 8;
const LARGEST_SEARCHED = 16 * 1024 * 1024;

/** The last run of the same flow, read only when a miss has to be explained. */
export class LastRun {
  #asked = 0;
  /** Undefined once it is not searched (any more). */
  #bytes: Buffer | undefined;
  /** Places, not results: the last run may have been a batch of many thousand rows. */
  #places: ReadonlyMap<string, LinePlace> | undefined;

  constructor(
    private readonly journalPath: () => string | undefined,
    private readonly store: Store | undefined,
    private readonly now: () => number,
  ) {}

  of(path: string, unit: string | undefined): LastResult | undefined {
    const journal = this.journalPath();
    const line = journal === undefined ? undefined : this.#find(journal, path, unit);
    if (line?.type !== 'unit' && line?.type !== 'phase') return undefined;
    const { key, status, identity } = line;
    const found: LastResult = { key, status, identity };
    if (identity !== undefined || key === undefined || !this.store) return found;
    // It was reused last time: what it was made from stands in its entry.
    const got = this.store.get(key, { now: this.now() });
    return 'entry' in got ? { ...found, identity: got.entry.identity } : found;
  }

  #find(journal: string, path: string, unit: string | undefined): JournalLine | undefined {
    this.#asked += 1;
    if (this.#asked === 1) this.#bytes = readWhole(journal);
    const found = this.#bytes && this.#asked <= FEW ? searchResult(this.#bytes, path, unit) : 'unsure';
    if (found !== 'unsure') return found;
    this.#bytes = undefined;
    this.#places ??= resultPlaces(journal);
    const place = this.#places.get(resultName(path, unit));
    return place && readLineAt(journal, place);
  }
}

/** Undefined when it is too large to be held in memory, or not there. */
function readWhole(path: string): Buffer | undefined {
  const stat = statIfThere(path);
  if (!stat || stat.size > LARGEST_SEARCHED) return undefined;
  try {
    return readFileSync(path);
  } catch {
    // Cleared meanwhile: there is no last run.
    return undefined;
  }
}
