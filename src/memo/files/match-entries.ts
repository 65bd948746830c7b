import type { Dirent } from 'node:fs';
import type { Entry } from 'fast-glob';
import type { ErrnoError } from '../../util/atomic-write.js';
import type { GlobPattern } from './glob-pattern.js';

/** What fast-glob asks of a file system; links are followed with `statSync`. */
export interface GlobFileSystem {
  readdirSync(folder: string): readonly Dirent[];
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
    const entries = glob.sync(
      patterns.flatMap((pattern) => pattern.patterns.map(withStandIns)),
      {
        cwd: root,
        fs: inStandIns(fs),
        dot: true,
        objectMode: true,
        onlyFiles: false,
        throwErrorOnBrokenSymbolicLink: true,
      },
    );
    return entries.map((entry) => (STAND_IN.test(entry.path) ? { ...entry, path: withLineEnds(entry.path) } : entry));
  } catch (error) {
    if ((error as ErrnoError).code !== undefined) throw error;
    const names = patterns.map(({ text }) => text).join(', ');
    throw new UnusablePattern(`${names} cannot be used as a pattern: ${(error as Error).message}`);
  }
}

/**
 * A wildcard of the library matches no line end, and a file that has one in its name would be left out in silence. So
 * halves of surrogate pairs stand in for them: no name that Node reads has one.
 */
const LINE_ENDS = ['\n', '\r', '\u2028', '\u2029'];
const LINE_END = /[\n\r\u2028\u2029]/;
const STAND_IN = /[\ud800-\ud803](?![\udc00-\udfff])/;

function withStandIns(text: string): string {
  if (!LINE_END.test(text)) return text;
  return text.replace(/[\n\r\u2028\u2029]/g, (end) => String.fromCharCode(0xd800 + LINE_ENDS.indexOf(end)));
}

function withLineEnds(text: string): string {
  if (!STAND_IN.test(text)) return text;
  return text.replace(/[\ud800-\ud803](?![\udc00-\udfff])/g, (half) => LINE_ENDS[half.charCodeAt(0) - 0xd800]!);
}

function inStandIns(fs: GlobFileSystem): object {
  const named = (entry: Dirent) =>
    LINE_END.test(entry.name) ? Object.create(entry, { name: { value: withStandIns(entry.name) } }) : entry;
  const { statSync } = fs;
  return {
    readdirSync: (folder: string) => fs.readdirSync(withLineEnds(folder)).map(named),
    lstatSync: (path: string) => fs.lstatSync(withLineEnds(path)),
    ...(statSync && { statSync: (path: string) => statSync(withLineEnds(path)) }),
  };
}
