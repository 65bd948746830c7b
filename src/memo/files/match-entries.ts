import type { Entry } from 'fast-glob';
import type { ErrnoError } from '../../util/atomic-write.js';
import type { GlobPattern } from './glob-pattern.js';

/** What fast-glob asks of a file system; links are followed with `statSync`. */
export interface GlobFileSystem {
  readdirSync(folder: string): unknown;
  lstatSync(path: string): unknown;
  statSync?(path: string): unknown;
}

/** The library cannot work with the pattern: a range of a million numbers, for example. */
export class UnusablePattern extends Error {}

/** The only call of fast-glob: all that any of the patterns matches, folders too. Its options define our globs. */
export async function matchEntries(
  patterns: readonly GlobPattern[],
  root: string,
  fs: GlobFileSystem,
): Promise<Entry[]> {
  const { default: glob } = await import('fast-glob');
  try {
    return glob.sync(
      patterns.flatMap((pattern) => pattern.patterns),
      {
        cwd: root,
        fs: fs as object,
        dot: true,
        objectMode: true,
        onlyFiles: false,
        throwErrorOnBrokenSymbolicLink: true,
      },
    );
  } catch (error) {
    if ((error as ErrnoError).code !== undefined) throw error;
    const names = patterns.map(({ text }) => text).join(', ');
    throw new UnusablePattern(`${names} cannot be used as a pattern: ${(error as Error).message}`);
  }
}
