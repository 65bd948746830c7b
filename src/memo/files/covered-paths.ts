import { compileGlob } from './glob-pattern.js';

/** Left out of a glob unless it names them: see `walk`. */
const LEFT_OUT = ['node_modules'];

/** The first of the paths that none of the patterns means; undefined when all are covered. */
export async function uncovered(paths: readonly string[], patterns: readonly string[]): Promise<string | undefined> {
  if (paths.length === 0) return undefined;
  const compiled = await Promise.all(patterns.map(compileGlob));
  return paths.find((path) => {
    const names = path.split('/');
    const leftOut = LEFT_OUT.filter((folder) => names.includes(folder));
    return !compiled.some((pattern) => pattern.matches(path) && leftOut.every((folder) => pattern.names(folder)));
  });
}
