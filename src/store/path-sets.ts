import { isJsonObject, type JsonValue } from '../model/json.js';
import type { PathSet } from '../model/observation.js';
import { canonicalEncode } from '../util/canonical.js';

/** How many states of the project (branches, say) are found again. */
const MOST_SETS = 8;
/** Limit for all sets but the latest together: each look-up reads the whole entry. */
const MOST_PATHS = 20_000;

/** The sets with the latest in front. It replaces a set with the same paths. A dropped set costs a miss. */
export function withLatest(latest: PathSet, sets: readonly PathSet[]): readonly PathSet[] {
  const name = pathsOf(latest);
  const others = sets.filter((set) => pathsOf(set) !== name).slice(0, MOST_SETS - 1);
  let paths = 0;
  return [
    latest,
    ...others.filter((set) => {
      paths += sizeOf(set);
      return paths <= MOST_PATHS;
    }),
  ];
}

/** The sets of two stores, the newer ones in front: path sets are hints where to look, so both are useful. */
export function mergedSets(newer: readonly PathSet[], older: readonly PathSet[]): readonly PathSet[] {
  return newer.reduceRight((sets, set) => withLatest(set, sets), older);
}

/** How many paths it has. */
export function sizeOf({ reads, lists, absent, present }: PathSet): number {
  return reads.length + lists.length + absent.length + present.length;
}

function pathsOf({ marks: _marks, ...set }: PathSet): string {
  return canonicalEncode(set);
}

/** What is wrong with the path sets of an entry, which may come from anywhere; undefined when nothing is. */
export function pathSetsProblem(value: JsonValue | undefined): string | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_SETS) return 'bad list of path sets';
  return value.every(isPathSet) ? undefined : 'bad path set';
}

function isPathSet(value: unknown): value is PathSet {
  if (!isJsonObject(value as JsonValue)) return false;
  const { complete, reads, lists, absent, present, marks } = value as Partial<Record<keyof PathSet, unknown>>;
  return (
    typeof complete === 'boolean' &&
    isListOf(reads, isPath) &&
    isListOf(absent, isPath) &&
    isListOf(present, isPath) &&
    isListOf(lists, isListed) &&
    isListOf(marks, (mark) => typeof mark === 'string' && /^[0-9a-f]{16}$/.test(mark)) &&
    marks.length === reads.length + lists.length
  );
}

function isListOf(value: unknown, isMember: (member: unknown) => boolean): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isMember);
}

function isListed(value: unknown): boolean {
  const { path, own } = (value ?? {}) as { path?: unknown; own?: unknown };
  return (path === '.' || isPath(path)) && isListOf(own, (name) => typeof name === 'string');
}

const LONGEST_PATH = 4096;

/** Inside of the project, and spelled in one way. */
export function isPath(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_PATH || value.includes('\0')) return false;
  return !/(?:^|\/)(?:\.{0,2})(?:\/|$)/.test(value);
}
