import type { LogOptions } from '../../src/store/index-log.js';
import type { IndexRow } from '../../src/store/index-row.js';
import { Pace } from '../../src/store/pace.js';
import { withIndex } from '../../src/store/store-index.js';

/** The rows of a store, the least recently used first, and what had to be read for them. */
export function readIndex(
  options: LogOptions,
): Promise<{ rows: Map<string, IndexRow>; unreadable: readonly string[]; read: number }> {
  const pace = new Pace();
  return withIndex(options, pace, async (index) => {
    const rows = new Map<string, IndexRow>();
    await index.each(pace, (row, slot) => rows.set(index.keys.keyAt(slot), row));
    return { rows, unreadable: index.unreadable, read: index.read };
  });
}
