import { canonicalEncode } from '../util/canonical.js';
import { sha256Hex } from '../util/digest.js';

/**
 * Too many files to name each: their folders, each with one digest of all that is in it, as deep as the limit allows.
 * A miss can then say in which folder something changed.
 */
export function foldParts(parts: Readonly<Record<string, string>>, limit: number): Record<string, string> {
  const paths = Object.keys(parts).sort();
  const deepest = Math.max(...depths(paths));
  for (let depth = deepest; depth > 0; depth--) {
    const folders = new Set(paths.map((path) => folderAt(path, depth)));
    if (folders.size > limit) continue;
    const groups = new Map<string, [string, string][]>();
    for (const path of paths) {
      const folder = folderAt(path, depth);
      const group = groups.get(folder) ?? [];
      group.push([path, parts[path]!]);
      groups.set(folder, group);
    }
    return Object.fromEntries([...groups].map(([folder, group]) => [folder, sha256Hex(canonicalEncode(group))]));
  }
  return {};
}

/** Distinct numbers of folders above a file; few, however many files there are. */
function depths(paths: readonly string[]): Set<number> {
  return new Set(paths.map((path) => path.split('/').length - 1));
}

/** The first `depth` folders of the path; of a file that is not that deep, all of them. */
function folderAt(path: string, depth: number): string {
  const names = path.split('/');
  return `${names.slice(0, Math.min(depth, names.length - 1)).join('/') || '.'}/`;
}
