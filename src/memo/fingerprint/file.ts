import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../../util/digest.js';
import { type FileStamp, haveSameStamp, leftAloneBefore } from '../../util/file-stamp.js';
import { isInside } from '../../util/inside.js';
import type { Project } from '../../util/project.js';
import { isSelected } from '../files/select-paths.js';
import { digestFiles } from './file-digests.js';
import type { Source, SourceContext, SourceOptions, SourceResult } from './source.js';
import { partsOf, readTable, tableName, writeTable } from './stat-table.js';
import type { Fingerprint } from './syntax.js';

type FileFingerprint = Fingerprint & { source: 'file' };

const SMALL = 256 * 1024;
const IF_THERE = { throwIfNoEntry: false } as const;
/** Reading as text is one call into Node, where reading bytes is four. */
const UTF8 = { encoding: 'utf8', flag: 'r' } as const;

/**
 * Content digest; null when there is no such file, which is not the empty file. Read from the bytes, unless this
 * process or an earlier one has read them, and the file was left alone long before and ever since.
 */
export const resolveFile: Source<FileFingerprint> = (fingerprint, options, context) => {
  const absolute = `${context.project.root}/${fingerprint.path}`;
  if (options.ownOutputs.length === 0) {
    const digest = digestPlainFile(absolute, context);
    if (digest !== undefined) return { value: digest };
  }
  return resolveCarefully(fingerprint.path, options, context);
};

/** Looks at each folder only once, however many of its files are asked for. */
function isFolderInside(folder: string, { project, inside }: SourceContext): boolean {
  if (inside.has(folder)) return true;
  try {
    if (!isInside(project.root, realpathSync.native(folder))) return false;
  } catch {
    // Not there or not readable: `resolveCarefully` has words for it.
    return false;
  }
  inside.add(folder);
  return true;
}

/** Digest of a small regular file inside of the project; undefined for anything else, whatever it is. */
function digestPlainFile(path: string, context: SourceContext): string | undefined {
  const { project, read } = context;
  try {
    const stat = lstatSync(path, IF_THERE);
    if (!stat?.isFile() || stat.size > SMALL) return undefined;
    if (!isFolderInside(path.slice(0, path.lastIndexOf('/')), context)) return undefined;
    const known = read.get(path);
    if (known && haveSameStamp(known, stat)) return known.digest;
    const { size, mtimeMs, ctimeMs, ino } = stat;
    const isLeftAlone = leftAloneBefore(mtimeMs, ctimeMs, project.clock.now());
    const text = readFileSync(path, UTF8);
    // Decoding is lossless unless it had to put in this character; then the bytes themselves have to be looked at.
    if (text.includes('\uFFFD')) return undefined;
    const digest = sha256Hex(text);
    if (isLeftAlone) read.set(path, { size, mtimeMs, ctimeMs, ino, digest });
    return digest;
  } catch {
    // Unreadable, or gone meanwhile: `resolveCarefully` has words for it.
    return undefined;
  }
}

async function resolveCarefully(
  path: string,
  options: SourceOptions,
  { project }: SourceContext,
): Promise<SourceResult> {
  const absolute = join(project.root, path);
  const relative = absolute.slice(project.root.length + 1);
  if (await isSelected(relative, options.ownOutputs)) return { value: 'own output' };
  try {
    const stat = statSync(absolute, { throwIfNoEntry: false });
    if (stat === undefined) return { value: null, matchesNothing: true };
    if (!isInside(project.root, realpathSync(absolute))) return { failed: `${path} leads out of the project` };
    if (stat.isDirectory()) return { failed: `${path} is a folder; glob:${path}/** is its content` };
    if (!stat.isFile()) return { failed: `${path} is no regular file` };
    return await digestKept(path, stat, project);
  } catch (error) {
    return unreadable(path, error as NodeJS.ErrnoException);
  }
}

/** Hashing a large file takes long, so its digest is kept like those of a glob: a table with one row. */
async function digestKept(path: string, stat: FileStamp, project: Project): Promise<SourceResult> {
  const name = tableName(`file:${path}`);
  const known = stat.size > SMALL ? readTable(project, name) : undefined;
  const stats = [stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino];
  const digested = await digestFiles({ root: project.root, clock: project.clock, paths: [path], stats, known });
  if ('failed' in digested) return digested;
  if ('vanished' in digested) return { value: null, matchesNothing: true };
  const { table } = digested;
  if (stat.size > SMALL && table !== known) writeTable(project, name, table);
  return { value: partsOf(table)[path]! };
}

function unreadable(path: string, error: NodeJS.ErrnoException): SourceResult {
  // A file where the path wants a folder: there is nothing of that name.
  if (error.code === 'ENOTDIR' || error.code === 'ENOENT') return { value: null, matchesNothing: true };
  if (error.code === undefined) throw error;
  return { failed: `${path} cannot be read (${error.code})` };
}
