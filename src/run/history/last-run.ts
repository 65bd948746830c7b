import type { JsonObject } from '../../model/json.js';
import type { Output, Status } from '../../model/outcome.js';
import type { Store } from '../../store/store.js';
import { readIfThere } from '../../util/if-there.js';
import { statIfThere } from '../../util/stat.js';
import type { ResultLine } from '../journal/lines.js';
import { type ResultPlace, readLineAt, resultName, resultPlaces } from '../journal/reader.js';
import { searchResult } from '../journal/search-results.js';

/** What became of a phase or unit in the last run of the same flow. */
export interface LastResult {
  readonly key?: string;
  readonly status: Status;
  readonly identity?: JsonObject;
  /** The identity is the one that its entry or its original line says: it was reused there, or is kept. */
  readonly wasReused: boolean;
  /** The store has had the result. */
  readonly wasKept: boolean;
}

interface ResultQuery {
  readonly path: string;
  readonly unit?: string;
  readonly isWanted?: (line: ResultLine) => boolean;
}

/** So many results are searched for; beyond that it pays to index the whole journal. */
const FEW = 8;
const LARGEST_SEARCHED = 16 * 1024 * 1024;

/** The last run of the same flow, read only when a miss has to be explained. */
export class LastRun {
  #asked = 0;
  /** Undefined once it is not searched (any more). */
  #bytes: Buffer | undefined;
  /** Places, not results: the last run may have been a batch of many thousand rows. */
  #places: ReadonlyMap<string, ResultPlace> | undefined;
  #quoted: { readonly path: string; readonly output: Output | undefined } | undefined;

  constructor(
    private readonly journalPath: () => string | undefined,
    private readonly store: Store | undefined,
    private readonly now: () => number,
  ) {}

  of(path: string, unit: string | undefined): LastResult | undefined {
    const journal = this.journalPath();
    const line = journal === undefined ? undefined : this.#find(journal, { path, unit });
    if (journal === undefined || !line) return undefined;
    const { key, status } = line;
    if (line.identity) return { key, status, identity: line.identity, wasReused: false, wasKept: false };
    const made = this.#madeIn(journal, line);
    return { key, status, identity: made ?? this.#identityIn(line), wasReused: true, wasKept: made === undefined };
  }

  /** What a phase said then; undefined when it is not known. Asked for by each item of a map that quotes it. */
  output(path: string): Output | undefined {
    if (this.#quoted?.path !== path) {
      const journal = this.journalPath();
      const line = journal === undefined ? undefined : this.#find(journal, { path });
      const isKnown = line?.status === 'done' && !line.masked;
      this.#quoted = { path, output: isKnown ? line.output : undefined };
    }
    return this.#quoted.output;
  }

  /** For a result that was reused: the line that was carried over has the identity, unless its entry has it. */
  #madeIn(journal: string, { key, hit, phase, unit }: ResultLine): JsonObject | undefined {
    if (key === undefined || hit !== 'run') return undefined;
    const wasMade = (line: ResultLine) => line.identity !== undefined && line.key === key;
    return this.#find(journal, { path: phase, unit, isWanted: wasMade })?.identity;
  }

  #identityIn({ key }: ResultLine): JsonObject | undefined {
    if (key === undefined || !this.store) return undefined;
    const got = this.store.peek(key, { now: this.now() });
    return 'entry' in got ? got.entry.identity : undefined;
  }

  #find(journal: string, { path, unit, isWanted = () => true }: ResultQuery): ResultLine | undefined {
    this.#asked += 1;
    if (this.#asked === 1) this.#bytes = readWhole(journal);
    const searched = this.#asked <= FEW && this.#bytes ? { bytes: this.#bytes, path: journal } : undefined;
    const found = searched ? searchResult(searched, { phase: path, unit }, isWanted) : 'unsure';
    if (found !== 'unsure') return found;
    this.#bytes = undefined;
    this.#places ??= resultPlaces(journal);
    for (let place = this.#places.get(resultName(path, unit)); place; place = place.before) {
      const line = readLineAt(journal, place);
      if ((line?.type === 'unit' || line?.type === 'phase') && isWanted(line)) return line;
    }
    return undefined;
  }
}

/** Undefined when it is too large to be held in memory, or not there. */
function readWhole(path: string): Buffer | undefined {
  const stat = statIfThere(path);
  return stat && stat.size <= LARGEST_SEARCHED ? readIfThere(path) : undefined;
}
