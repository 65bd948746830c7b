import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { digestFile } from '../../util/digest-file.js';
import { compileGlobs } from '../files/glob-pattern.js';
import { isInside } from '../files/walk.js';
import type { Source, SourceResult } from './source.js';
import type { Fingerprint } from './syntax.js';

/** Content digest, read from the bytes every time; null when there is no such file, which is not the empty file. */
export const resolveFile: Source<Fingerprint & { source: 'file' }> = async ({ path }, options, { project }) => {
  const absolute = join(project.root, path);
  const relative = absolute.slice(project.root.length + 1);
  if ((await compileGlobs(options.ownOutputs))(relative)) return { value: 'own output' };
  try {
    const stat = statSync(absolute, { throwIfNoEntry: false });
    if (stat === undefined) return { value: null };
    if (!isInside(project.root, realpathSync(absolute))) return { failed: `${path} leads out of the project` };
    if (stat.isDirectory()) return { failed: `${path} is a folder; glob:${path}/** is its content` };
    if (!stat.isFile()) return { failed: `${path} is no regular file` };
    return { value: await digestFile(absolute, stat.size) };
  } catch (error) {
    return unreadable(path, error as NodeJS.ErrnoException);
  }
};

function unreadable(path: string, error: NodeJS.ErrnoException): SourceResult {
  // A file where the path wants a folder: there is nothing of that name.
  if (error.code === 'ENOTDIR' || error.code === 'ENOENT') return { value: null };
  if (error.code === undefined) throw error;
  return { failed: `${path} cannot be read (${error.code})` };
}
