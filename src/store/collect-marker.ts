import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeNote } from '../util/atomic-write.js';

/** What the last collection left, and what has been added since: tells in one read whether another is due. */
export interface Marker {
  readonly at: number;
  readonly entries: number;
  readonly bytes: number;
  readonly puts: number;
  readonly added: number;
}

const MARKER = 'collect.json';
/** With spaces at its end, so that it always has the same length. */
const LENGTH = 160;

export function readMarker(dir: string): Marker | undefined {
  try {
    const marker = JSON.parse(readFileSync(join(dir, MARKER), 'utf8')) as Partial<Marker>;
    const { at, entries, bytes, puts, added } = marker;
    return [at, entries, bytes, puts, added].every(Number.isFinite) ? (marker as Marker) : undefined;
  } catch {
    // None yet, or garbled: a collection is due and writes a new one.
    return undefined;
  }
}

/** Best effort. Two runs that end at once may forget each other's additions; a collection is due once a day anyway. */
export function writeMarker(dir: string, marker: Marker): void {
  writeNote(join(dir, MARKER), JSON.stringify(marker).padEnd(LENGTH));
}
