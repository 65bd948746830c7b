import { selectPaths } from '../../memo/files/select-paths.js';
import type { Identity } from '../../memo/identity.js';
import { isLeftOut } from '../../memo/observed/left-out.js';
import type { ListedFolder, Observation, Observing } from '../../model/observation.js';

const FILES = /^(?:file|glob!?):/;
/** In a folder that a glob covers whole, any name is covered. */
const ANY_NAME = '\u0001';

/** Whether a path is declared: then its content is in the key, and it is not observed a second time. */
export async function declaredAmong(
  paths: readonly string[],
  { fingerprints, context, upstream, outputs }: Pick<Identity, 'fingerprints' | 'context' | 'upstream' | 'outputs'>,
): Promise<ReadonlySet<string>> {
  const globs = fingerprints.flatMap(({ entry }) => (FILES.test(entry) ? [entry.replace(FILES, '')] : []));
  const declared = new Set(await selectPaths(paths, globs));
  // What a phase writes itself is no part of its fingerprints.
  for (const path of await selectPaths([...declared], outputs)) declared.delete(path);
  for (const { path } of context) if (typeof path === 'string') declared.add(path);
  for (const part of upstream) if ('files' in part) for (const path of Object.keys(part.files)) declared.add(path);
  return declared;
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
