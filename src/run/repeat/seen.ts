import { readFileSync } from 'node:fs';
import { sha256Hex } from '../../util/digest.js';
import { leftAloneBefore } from '../../util/file-figures.js';
import { lstatIfThere, statIfThere } from '../../util/stat.js';

/** What was seen at a path: the content's digest, or null where there was nothing. */
export interface Seen {
  readonly path: string;
  readonly digest: string | null;
  /** Size, mtime, ctime and inode, where these alone say that the content is still the same. */
  readonly figures?: readonly [size: number, mtimeMs: number, ctimeMs: number, ino: number];
}

/** Stands for the digest of a folder, which counts by its own figures alone. */
export const FOLDER = 'a folder';

/**
 * `content`: its figures are others, and its content is the same. Links are never believed by their figures: what they
 * lead to may have changed, or be somewhere else (`mayLead`).
 */
export function compare(
  { digest, figures }: Seen,
  path: string,
  mayLead: (path: string) => boolean,
): 'same' | 'content' | 'other' {
  const stat = lstatIfThere(path);
  if (stat === undefined || digest === null) return stat === undefined && digest === null ? 'same' : 'other';
  if (figures !== undefined) {
    const [size, mtimeMs, ctimeMs, ino] = figures;
    if (stat.ctimeMs === ctimeMs && stat.mtimeMs === mtimeMs && stat.size === size && stat.ino === ino) return 'same';
  }
  const isFile = stat.isSymbolicLink() ? statIfThere(path)?.isFile() === true && mayLead(path) : stat.isFile();
  return isFile && digestOf(path) === digest ? 'content' : 'other';
}

function digestOf(path: string): string | undefined {
  try {
    return sha256Hex(readFileSync(path));
  } catch {
    // Unreadable, or gone meanwhile.
    return undefined;
  }
}

/**
 * With figures if they can be trusted: it is a plain file or folder, and has been left alone since well before `time`,
 * at which its content was not yet looked at.
 */
export function see(path: string, digest: string | null, absolute: string, time: number): Seen {
  const stat = digest === null ? undefined : lstatIfThere(absolute);
  if (
    stat === undefined ||
    !(stat.isFile() || stat.isDirectory()) ||
    !leftAloneBefore(stat.mtimeMs, stat.ctimeMs, time)
  ) {
    return { path, digest };
  }
  return { path, digest, figures: [stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino] };
}
