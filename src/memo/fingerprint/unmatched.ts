import { join } from 'node:path';
import { namesIn } from '../../util/if-there.js';
import { isReallyInside } from '../../util/inside.js';
import { nearestName } from '../../util/nearest.js';
import { lstatIfThere } from '../../util/stat.js';
import { findFiles } from '../files/find-files.js';
import { hasWildcards, parseGlob } from '../files/glob-pattern.js';
import { isSelected } from '../files/select-paths.js';
import { type Fingerprint, parseFingerprint } from './syntax.js';

/** A warning about a fingerprint that matches nothing: a misspelt one is the likeliest way to a stale result. */
export interface Unmatched {
  readonly message: string;
  readonly hint: string;
}

interface Surroundings {
  readonly root: string;
  /** Globs of the files that phases of the flow make, which need not exist yet. May hold placeholders. */
  readonly outputs: readonly string[];
}

/** For an entry without placeholders: undefined when something matches it. */
export async function findUnmatched(entry: string, around: Surroundings): Promise<Unmatched | undefined> {
  const parsed = parseFingerprint(entry);
  if (!('ok' in parsed) || !(await matchesNothing(parsed.ok, around.root))) return undefined;
  return describeUnmatched(entry, around);
}

/** For an entry that is known to match nothing; undefined when that is no mistake. */
export async function describeUnmatched(
  entry: string,
  { root, outputs }: Surroundings,
): Promise<Unmatched | undefined> {
  const parsed = parseFingerprint(entry);
  const pattern = 'ok' in parsed ? patternOf(parsed.ok) : undefined;
  if (pattern === undefined || mayBeMissing(pattern) || (await isMade(pattern, outputs))) return undefined;
  const prefix = entry.slice(0, entry.indexOf(':') + 1);
  const nearest = await nearestPath(pattern, root);
  return {
    message: prefix === 'file:' ? `${entry}: there is no such file` : `${entry} matches no file`,
    hint: nearest === undefined ? optional(pattern) : `did you mean "${prefix}${nearest}"?`,
  };
}

function patternOf(fingerprint: Fingerprint): string | undefined {
  if (fingerprint.source === 'glob') return fingerprint.pattern;
  return fingerprint.source === 'file' ? fingerprint.path : undefined;
}

async function matchesNothing(fingerprint: Fingerprint, root: string): Promise<boolean> {
  if (fingerprint.source === 'file') return lstatIfThere(join(root, fingerprint.path)) === undefined;
  if (fingerprint.source !== 'glob') return false;
  const found = await findFiles(parseGlob(fingerprint.pattern), { root });
  return !('failed' in found) && found.paths.length === 0 && found.links.length === 0;
}

/** `?(…)` means one or none: the author expects that there may be none. */
function mayBeMissing(pattern: string): boolean {
  return pattern.includes('?(');
}

/** `?(zzz.txt)`, `src/?(*.tsx)`, `?(dist)/**`. */
function optional(pattern: string): string {
  const segments = pattern.split('/');
  const at = segments.findLastIndex((segment) => segment !== '**' && segment !== '');
  const last = segments[at];
  const says = last === undefined ? pattern : segments.with(at, `?(${last})`).join('/');
  return `if it may be missing, say so: glob:${says}`;
}

async function isMade(pattern: string, outputs: readonly string[]): Promise<boolean> {
  for (const output of outputs) {
    if (await mayMeet(segmentsOf(pattern), segmentsOf(output.replace(/\{[^{},]*\}/g, '*')))) return true;
  }
  return false;
}

/** A literal pattern may name a folder. */
function segmentsOf(pattern: string): string[] {
  const { text, literal } = parseGlob(pattern);
  return literal ? [...text.split('/'), '**'] : text.split('/');
}

/** Whether some path may match both. In doubt true, so that a warning is never wrong. */
async function mayMeet(a: readonly string[], b: readonly string[]): Promise<boolean> {
  for (let i = 0; ; i++) {
    const [x, y] = [a[i], b[i]];
    if (x === undefined || y === undefined) return (x ?? '**') === (y ?? '**');
    // `**` matches anything that follows; a choice with a slash in it was split at the slash.
    if (/\*\*|[{}()]/.test(x + y)) return true;
    if (hasWildcards(x) && hasWildcards(y)) continue;
    const meets = hasWildcards(x) ? await isSelected(y, [x]) : await isSelected(x, [y]);
    if (!meets) return false;
  }
}

/** The pattern with the first name in it that is not there replaced by the nearest one that is. */
async function nearestPath(pattern: string, root: string): Promise<string | undefined> {
  const segments = pattern.split('/');
  for (const [i, segment] of segments.entries()) {
    if (hasWildcards(segment)) return undefined;
    const folder = join(root, ...segments.slice(0, i));
    const names = isReallyInside(root, folder) ? namesIn(folder) : [];
    if (names.includes(segment)) continue;
    const nearest = await nearestName(segment, names);
    return nearest === undefined ? undefined : segments.with(i, nearest).join('/');
  }
  return undefined;
}
