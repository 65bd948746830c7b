import { posix } from 'node:path';
import type { PathSet } from '../../model/observation.js';

/** Characters with a meaning in a pattern. */
const WILD = /[!*?|[\](){}\\]/;

/** Fingerprints that cover what was looked at: each file by its name, several of a kind in one folder by a glob. */
export function suggestFingerprints({ reads, lists, absent }: Pick<PathSet, 'reads' | 'lists' | 'absent'>): string[] {
  const entries = new Set<string>();
  const listed = new Set(lists.map(({ path }) => path));
  for (const path of listed) entries.add(`glob:${inFolder(path, '*')}`);
  const groups = new Map<string, string[]>();
  for (const path of reads) {
    // A listed folder is covered whole.
    if (listed.has(posix.dirname(path))) continue;
    const extension = posix.extname(path);
    const pattern = inFolder(posix.dirname(path), `*${extension}`);
    const name = extension === '' || WILD.test(path) ? path : pattern;
    groups.set(name, [...(groups.get(name) ?? []), path]);
  }
  for (const [pattern, paths] of groups) entries.add(paths.length === 1 ? `file:${paths[0]}` : `glob:${pattern}`);
  for (const path of absent) if (!listed.has(posix.dirname(path))) entries.add(`file:${path}`);
  return [...entries].sort();
}

function inFolder(folder: string, name: string): string {
  return folder === '.' ? name : `${folder}/${name}`;
}
