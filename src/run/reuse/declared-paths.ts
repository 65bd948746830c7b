import { selectPaths } from '../../memo/files/select-paths.js';
import type { Identity } from '../../memo/identity.js';
import type { ListedFolder, Observation, Observing } from '../../model/observation.js';
import { isLeftOut } from '../../observe/left-out.js';
import type { GitOptions } from '../../process/git.js';
import { gitIgnored } from '../../process/git-ignored.js';

const FILES = /^(?:file|glob!?):/;
/** In a folder that a glob covers whole, any name is covered. */
const ANY_NAME = '\u0001';

type Declaring = Pick<Identity, 'fingerprints' | 'context' | 'upstream' | 'outputs'>;

/** Whether a path is declared: then its content is in the key, and it is not observed a second time. */
export async function declaredAmong(
  paths: readonly string[],
  { fingerprints, context, upstream, outputs }: Declaring,
  git: GitOptions,
): Promise<ReadonlySet<string>> {
  const globs = fingerprints.flatMap(({ entry }) => (FILES.test(entry) ? [entry.replace(FILES, '')] : []));
  const declared = new Set(await selectPaths(paths, globs));
  if (fingerprints.some(({ entry }) => entry === 'git:worktree')) {
    const isTracked = await inWorktree(git);
    for (const path of paths) if (isTracked(path)) declared.add(path);
  }
  // What a phase writes itself is no part of its fingerprints.
  for (const path of await selectPaths([...declared], outputs)) declared.delete(path);
  for (const { path } of context) if (typeof path === 'string') declared.add(path);
  for (const part of upstream) if ('files' in part) for (const path of Object.keys(part.files)) declared.add(path);
  return declared;
}

/** Everything that git does not ignore is in the state of the worktree, new files too. */
async function inWorktree(git: GitOptions): Promise<(path: string) => boolean> {
  const ignored = await gitIgnored(git);
  if (!ignored) return () => false;
  const names = new Set(ignored);
  return (path) => {
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (names.has(path.slice(0, end))) return false;
    }
    return true;
  };
}

/** A path that stands for any new name in the folder. */
export function anyNameIn({ path }: ListedFolder): string {
  return path === '.' ? ANY_NAME : `${path}/${ANY_NAME}`;
}

/** The observation without paths that do not count. */
export async function countedPaths(observed: Observation, { exclude, include }: Observing): Promise<Observation> {
  const folders = observed.lists.map(anyNameIn);
  const all = [
    ...new Set([...observed.reads, ...observed.absent, ...observed.writes, ...(observed.present ?? []), ...folders]),
  ];
  const leftOut = new Set(all.filter(isLeftOut));
  for (const path of await selectPaths([...leftOut], include)) leftOut.delete(path);
  for (const path of await selectPaths(all, exclude)) leftOut.add(path);
  if (leftOut.size === 0) return observed;
  const counts = (path: string) => !leftOut.has(path);
  return {
    ...observed,
    reads: observed.reads.filter(counts),
    absent: observed.absent.filter(counts),
    present: observed.present?.filter(counts),
    writes: observed.writes.filter(counts),
    lists: observed.lists.filter((folder) => counts(anyNameIn(folder))),
  };
}
