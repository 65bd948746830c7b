import type { KeyTable } from './key-table.js';
import type { Pace } from './pace.js';

/** Sorts slots in slices: a plain sort of a million would hold up everything for a second. Equals keep their order. */
export async function sortSlots(
  slots: Uint32Array,
  compare: (a: number, b: number) => number,
  pace: Pace,
): Promise<Uint32Array> {
  let from: Uint32Array = slots;
  let to: Uint32Array = new Uint32Array(slots.length);
  for (let width = 1; width < slots.length; width *= 2) {
    for (let start = 0; start < slots.length; start += 2 * width) {
      const middle = Math.min(start + width, slots.length);
      const end = Math.min(start + 2 * width, slots.length);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at++) {
        const takeLeft = left < middle && (right >= end || compare(from[left]!, from[right]!) <= 0);
        to[at] = takeLeft ? from[left++]! : from[right++]!;
        if ((at & 1_023) === 0 && pace.tick()) await pace.rest();
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

/** All slots, in the order of their keys. */
export function sortedSlots(keys: KeyTable, pace: Pace): Promise<Uint32Array> {
  const slots = Uint32Array.from({ length: keys.size }, (_, slot) => slot);
  return sortSlots(slots, (a, b) => keys.compare(a, b), pace);
}
