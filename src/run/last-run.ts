import type { JsonObject } from '../model/json.js';
import type { Status } from '../model/outcome.js';
import type { Store } from '../store/store.js';
import { readLines } from './journal/reader.js';

/** How a phase or unit stood in the last run of the same flow. */
export interface LastResult {
  readonly key?: string;
  readonly status: Status;
  readonly identity?: JsonObject;
}

/** The last run of the same flow, read only when a miss has to be explained. */
export class LastRun {
  #results: Map<string, LastResult> | undefined;

  constructor(
    private readonly journalPath: () => string | undefined,
    private readonly store: Store | undefined,
    private readonly now: () => number,
  ) {}

  of(path: string, unit: string | undefined): LastResult | undefined {
    this.#results ??= this.#read();
    const found = this.#results.get(unit === undefined ? path : `${path} ${unit}`);
    if (!found || found.identity !== undefined || found.key === undefined || !this.store) return found;
    // It was reused last time: what it was made from stands in its entry.
    const got = this.store.get(found.key, { now: this.now() });
    return 'entry' in got ? { ...found, identity: got.entry.identity } : found;
  }

  #read(): Map<string, LastResult> {
    const results = new Map<string, LastResult>();
    const path = this.journalPath();
    if (path === undefined) return results;
    for (const { line } of readLines(path)) {
      if (line.type !== 'unit' && line.type !== 'phase') continue;
      results.set(line.unit === undefined ? line.phase : `${line.phase} ${line.unit}`, {
        key: line.key,
        status: line.status,
        identity: line.identity,
      });
    }
    return results;
  }
}
