import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../model/config.js';
import { isReallyInside } from '../util/inside.js';
import type { Project } from '../util/project.js';
import { lstatIfThere } from '../util/stat.js';
import { BLOBS, DAMAGED, INDEX_LOG, RESTORING } from './paths.js';

/**
 * Where the store of a project is. A project comes from other people: its settings, or a link in it, may not make us
 * read or write a folder elsewhere. The user's own settings may.
 */
export function storeFolder(
  { root }: Pick<Project, 'root'>,
  { cache }: { readonly cache: Pick<Config['cache'], 'dir' | 'dirFrom'> },
): { readonly dir: string } | { readonly problem: string; readonly hint: string } {
  const dir = resolve(root, cache.dir);
  if (cache.dirFrom === 'user') return { dir };
  if (!isReallyInside(root, dir)) {
    return {
      problem: `the cache folder ${cache.dir} is not in the project`,
      hint: `your own settings may name it: taskflow config set --user cache.dir ${dir}`,
    };
  }
  const link = linkIn(dir);
  if (link === undefined) return { dir };
  return { problem: `${link} in the cache folder is a link: we would write and remove files elsewhere`, hint: REMOVE };
}

const REMOVE = 'taskflow makes no links there: remove it';

/** The first part of the folder that is a link: we would write and remove files behind it. */
function linkIn(dir: string): string | undefined {
  const parts = [BLOBS, DAMAGED, RESTORING, INDEX_LOG];
  const link = parts.find((name) => lstatIfThere(join(dir, name))?.isSymbolicLink());
  return link === undefined ? linkAmong(dir, BLOBS) : join(dir, link);
}

function linkAmong(dir: string, folder: string): string | undefined {
  try {
    const found = readdirSync(join(dir, folder), { withFileTypes: true }).find((entry) => entry.isSymbolicLink());
    return found && join(dir, folder, found.name);
  } catch {
    // No such folder yet.
    return undefined;
  }
}
