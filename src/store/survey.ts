import { type BlobList, bytesOnlyIn, listBlobs, NamedBlobs } from './blob-list.js';
import { Bounds } from './bounds.js';
import { isAgeBelievable, readMarker } from './collect-marker.js';
import type { IndexRow } from './index-row.js';
import { type ListedEntry, listed } from './list-entries.js';
import type { StoreOptions } from './options.js';
import { Pace, type Watcher } from './pace.js';
import { type StoreIndex, withIndex } from './store-index.js';

/** What a store holds, and what its next collection would remove. */
export interface StoreSurvey {
  readonly entries: number;
  /** Kept files included. */
  readonly bytes: number;
  readonly files: number;
  /** By flow, the largest first. */
  readonly flows: readonly { readonly flow: string; readonly entries: number; readonly bytes: number }[];
  readonly largest: readonly ListedEntry[];
  readonly oldest: readonly ListedEntry[];
  readonly evicted: { readonly entries: number; readonly bytes: number; readonly first: readonly ListedEntry[] };
}

type SurveyOptions = Pick<StoreOptions, 'dir' | 'project' | 'limits' | 'signingKey'>;

/** Looks without changing anything; `most` entries of each list. */
export function surveyStore(options: SurveyOptions, most: number, watcher?: Watcher): Promise<StoreSurvey> {
  const pace = new Pace(watcher);
  return withIndex(options, pace, (index) => survey(index, { ...options, most }, pace));
}

async function survey(index: StoreIndex, options: SurveyOptions & { most: number }, pace: Pace): Promise<StoreSurvey> {
  const { dir, project, limits, most } = options;
  const now = project.clock.now();
  const list = await listBlobs(dir, pace);
  const bounds = new Bounds(list, { limits, now, byAge: isAgeBelievable(readMarker(dir), now) });
  const largest = new Top(most, (row) => row.bytes);
  const oldest = new Top(most, (row) => -row.createdAt);
  const flows = new Flows();
  await index.each(pace, (row, slot) => {
    bounds.count(row);
    largest.add(row, slot);
    oldest.add(row, slot);
    flows.add(row);
  });
  const evicted = await evictedBy(bounds, { index, list, most }, pace);
  const byFlow = flows.list();
  return {
    entries: byFlow.reduce((sum, { entries }) => sum + entries, 0),
    bytes: byFlow.reduce((sum, { bytes }) => sum + bytes, list.total),
    files: list.digests.size,
    flows: byFlow,
    largest: largest.entries(index),
    oldest: oldest.entries(index),
    evicted,
  };
}

/** As `collectGarbage` would choose, without removing anything. */
async function evictedBy(
  bounds: Bounds,
  { index, list, most }: { readonly index: StoreIndex; readonly list: BlobList; readonly most: number },
  pace: Pace,
): Promise<StoreSurvey['evicted']> {
  const [left, dropped] = [new NamedBlobs(list), new NamedBlobs(list)];
  const first: ListedEntry[] = [];
  let [entries, bytes] = [0, 0];
  await index.each(pace, (row, slot) => {
    if (!bounds.mustGo(row)) return void left.add(row.blobs);
    dropped.add(row.blobs);
    entries += 1;
    bytes += row.bytes;
    if (first.length < most) first.push(listed(index.keys.keyAt(slot), row));
  });
  return { entries, bytes: bytes + bytesOnlyIn(list, dropped, left), first };
}

class Flows {
  readonly #flows = new Map<string, { entries: number; bytes: number }>();

  add({ flow, bytes }: IndexRow): void {
    const sum = this.#flows.get(flow);
    if (sum) [sum.entries, sum.bytes] = [sum.entries + 1, sum.bytes + bytes];
    else this.#flows.set(flow, { entries: 1, bytes });
  }

  list(): StoreSurvey['flows'] {
    return [...this.#flows].map(([flow, sum]) => ({ flow, ...sum })).sort((a, b) => b.bytes - a.bytes);
  }
}

/** The few with the highest value, of however many. */
class Top {
  readonly #most: number;
  readonly #value: (row: IndexRow) => number;
  readonly #rows: { readonly row: IndexRow; readonly slot: number }[] = [];

  constructor(most: number, value: (row: IndexRow) => number) {
    this.#most = most;
    this.#value = value;
  }

  add(row: IndexRow, slot: number): void {
    const last = this.#rows.at(-1);
    if (this.#rows.length >= this.#most && last && this.#value(row) <= this.#value(last.row)) return;
    const at = this.#rows.findIndex((other) => this.#value(row) > this.#value(other.row));
    this.#rows.splice(at === -1 ? this.#rows.length : at, 0, { row, slot });
    if (this.#rows.length > this.#most) this.#rows.pop();
  }

  entries(index: StoreIndex): ListedEntry[] {
    return this.#rows.map(({ row, slot }) => listed(index.keys.keyAt(slot), row));
  }
}
