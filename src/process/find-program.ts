import { statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program would be found; undefined if nowhere. Looks, starts nothing. */
export function findOnPath(program: string, path: string | undefined): string | undefined {
  for (const folder of (path ?? '').split(delimiter)) {
    if (folder === '') continue;
    const candidate = join(folder, program);
    const stat = statSync(candidate, { throwIfNoEntry: false });
    if (stat?.isFile() && (stat.mode & 0o111) !== 0) return candidate;
  }
  return undefined;
}
