import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../util/atomic-write.js';
import { COLLECT } from './paths.js';

/** What the last collection left, and what was added since: one read shows whether the next is due. */
export interface Marker {
  readonly at: number;
  readonly entries: number;
  readonly bytes: number;
  readonly puts: number;
  readonly added: number;
  /** Since when the clock has gone on without a leap; see `clockSince`. */
  readonly since?: number;
}

export function readMarker(dir: string): Marker | undefined {
  try {
    const marker = JSON.parse(readFileSync(join(dir, COLLECT), 'utf8')) as Partial<Marker>;
    const { at, entries, bytes, puts, added, since = 0 } = marker;
    return [at, entries, bytes, puts, added, since].every(Number.isFinite) ? (marker as Marker) : undefined;
  } catch {
    // None yet, or garbled: a collection is due and writes a new one.
    return undefined;
  }
}

/** Best effort. Two runs that end at once may forget each other's additions; a collection is due once a day anyway. */
export function writeMarker(dir: string, marker: Marker): void {
  writeFileAtomic(join(dir, COLLECT), JSON.stringify(marker));
}

/** Counts additions other than a run's puts (an import). Without a marker a collection is due anyway. */
export function countAdded(dir: string, entries: number, bytes: number): void {
  const marker = readMarker(dir);
  if (marker) writeMarker(dir, { ...marker, puts: marker.puts + entries, added: marker.added + bytes });
}

export const DAY_MS = 24 * 3_600_000;
const LEAP_MS = 30 * DAY_MS;

/** When the clock goes back, or leaps by a month since the last write to this store, we trust it only from then on. */
export function clockSince(marker: Marker | undefined, now: number): number {
  if (marker === undefined) return 0;
  const leapt = now < marker.at - DAY_MS || now - marker.at > LEAP_MS;
  return leapt ? now : (marker.since ?? 0);
}

/**
 * Whether age may remove something. After a leap only when a day has passed on the new time: one run with a wrong clock
 * must not empty the store, and a store that was left alone for months loses nothing by waiting for a day.
 */
export function isAgeBelievable(marker: Marker | undefined, now: number): boolean {
  return now - clockSince(marker, now) >= DAY_MS;
}
