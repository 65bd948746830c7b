import { resolve } from 'node:path';
import type { Config } from '../model/config.js';
import { isReallyInside } from '../util/inside.js';
import type { Project } from '../util/project.js';

/**
 * Where the store of a project is. A project comes from other people: its settings, or a link in it, may not have us
 * read and write a folder somewhere else. The user's own settings may.
 */
export function storeFolder(
  { root }: Pick<Project, 'root'>,
  { cache }: { readonly cache: Pick<Config['cache'], 'dir' | 'dirFrom'> },
): { readonly dir: string } | { readonly problem: string; readonly hint: string } {
  const dir = resolve(root, cache.dir);
  if (cache.dirFrom === 'user' || isReallyInside(root, dir)) return { dir };
  return {
    problem: `the cache folder ${cache.dir} is not in the project`,
    hint: `your own settings may name it: taskflow config set --user cache.dir ${dir}`,
  };
}
