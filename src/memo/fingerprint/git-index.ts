import { readChecked, writeChecked } from '../../util/derived-cache.js';
import { sha256Hex } from '../../util/digest.js';
import { type FileStamp, haveSameStamp, leftAloneBefore } from '../../util/file-stamp.js';
import { statIfThere } from '../../util/stat.js';
import { ask } from './git-repository.js';
import type { SourceContext } from './source.js';

/** What `git ls-files -v --stage -z` lists of files that `git status` does not show or does not look at. */
export interface GitIndex {
  /** Git was asked to assume that these are unchanged. */
  readonly assumed: readonly string[];
  /** Left out by a sparse checkout. */
  readonly sparse: readonly string[];
  readonly submodules: readonly string[];
}

interface Kept {
  /** Stamp of the index file when git read it. */
  readonly stamp: FileStamp;
  readonly index: GitIndex;
}

/**
 * Reads the index through git. In a large repository that is a long list, so the answer is kept until the stamp of the
 * index file changes.
 */
export async function readIndex(
  top: string,
  file: string | undefined,
  context: SourceContext,
): Promise<GitIndex | { readonly failed: string }> {
  const { project } = context;
  const stat = file === undefined ? undefined : statIfThere(file);
  const name = `${sha256Hex(`git index ${file}`).slice(0, 32)}.index`;
  const known = stat && (readChecked(project, name) as Kept | undefined);
  if (known && haveSameStamp(known.stamp, stat)) return known.index;
  const askedAt = project.clock.now();
  const listed = await ask(['ls-files', '-v', '--stage', '-z'], context, top);
  if ('failed' in listed) return listed;
  const index = parseIndex(listed.stdout);
  if (index === undefined) return { failed: 'git ls-files said something unexpected' };
  if (stat && leftAloneBefore(stat.mtimeMs, stat.ctimeMs, askedAt)) {
    const { size, mtimeMs, ctimeMs, ino } = stat;
    writeChecked(project, name, { stamp: { size, mtimeMs, ctimeMs, ino }, index } satisfies Kept);
  }
  return index;
}

function parseIndex(text: string): GitIndex | undefined {
  const index = { assumed: [] as string[], sparse: [] as string[], submodules: [] as string[] };
  let start = 0;
  for (let end = text.indexOf('\0'); end >= 0; end = text.indexOf('\0', start)) {
    const line = start;
    start = end + 1;
    // Nearly all of perhaps a hundred thousand lines: a plain file, which `git status` covers.
    if (text.startsWith('H 100', line)) continue;
    const [, tag, mode, path] = /^(\w) (\d+) \w+ \d\t(.*)$/s.exec(text.slice(line, end)) ?? [];
    if (tag === undefined || path === undefined) return undefined;
    if (mode === '160000') index.submodules.push(path);
    else if (tag === 'S') index.sparse.push(path);
    else if (tag !== tag.toUpperCase()) index.assumed.push(path);
  }
  return start === text.length ? index : undefined;
}
