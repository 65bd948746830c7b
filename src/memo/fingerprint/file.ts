import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Hex } from '../../util/digest.js';
import { isInside } from '../../util/inside.js';
import { isSelected } from '../files/select-paths.js';
import type { FingerprintSource, SourceContext, SourceOptions, SourceResult } from './source.js';
import type { Fingerprint } from './syntax.js';

type FileFingerprint = Fingerprint & { source: 'file' };

const SMALL = 256 * 1024;
const IF_THERE = { throwIfNoEntry: false } as const;
/** Reading as text is one call into Node, where reading bytes is four. */
const UTF8 = { encoding: 'utf8', flag: 'r' } as const;

/**
 * Content digest; null when there is no such file, which is not the empty file. Reads the file, unless this process or
 * an earlier one has read it and it has not been touched since, nor shortly before.
 */
export const resolveFile: FingerprintSource<FileFingerprint> = (fingerprint, options, context) => {
  const { path } = fingerprint;
  const digest = options.ownOutputs.length === 0 ? digestPlainFile(path, context) : undefined;
  return digest === undefined ? resolveCarefully(path, options, context) : { value: digest };
};

/** Looks at each folder only once, however many of its files are asked for. */
function isFolderInside(folder: string, { project, inside }: SourceContext): boolean {
  if (inside.has(folder)) return true;
  try {
    if (!isInside(project.root, realpathSync.native(folder))) return false;
  } catch {
    // Not there or not readable: `resolveCarefully` finds the message.
    return false;
  }
  inside.add(folder);
  return true;
}

/** Digest of a regular file inside the project that is small or known; undefined for anything else. */
function digestPlainFile(path: string, context: SourceContext): string | undefined {
  const { project, stats } = context;
  const absolute = `${project.root}/${path}`;
  try {
    const stat = lstatSync(absolute, IF_THERE);
    if (!stat?.isFile() || !isFolderInside(absolute.slice(0, absolute.lastIndexOf('/')), context)) return undefined;
    const known = stats.find(path, stat);
    if (known !== undefined || stat.size > SMALL) return known;
    const readAt = project.clock.now();
    const text = readFileSync(absolute, UTF8);
    // Decoding is lossless unless it put in this character: then the bytes must be read.
    if (text.includes('\uFFFD')) return undefined;
    const digest = sha256Hex(text);
    stats.add(path, stat, { digest, readAt });
    return digest;
  } catch {
    // Unreadable, or gone meanwhile: `resolveCarefully` finds the message.
    return undefined;
  }
}

async function resolveCarefully(
  path: string,
  options: SourceOptions,
  { project, stats }: SourceContext,
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
    return { value: await stats.digest(path, stat) };
  } catch (error) {
    return unreadable(path, error as NodeJS.ErrnoException);
  }
}

function unreadable(path: string, error: NodeJS.ErrnoException): SourceResult {
  // ENOTDIR: a part of the path is a file.
  if (error.code === 'ENOTDIR' || error.code === 'ENOENT') return { value: null, matchesNothing: true };
  if (error.code === undefined) throw error;
  return { failed: `${path} cannot be read (${error.code})` };
}
