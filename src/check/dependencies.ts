import { LARGEST_FILE } from '../parse/decode.js';
import { sha256Hex } from '../util/digest.js';
import { markdownNames } from '../util/markdown-names.js';
import { readBounded } from '../util/read-bounded.js';

/** Something outside the file that its check read; null: it did not exist. */
export interface Dependency {
  readonly path: string;
  readonly digest: string | null;
}

/** Whether everything that a check read is unchanged. */
export function unchanged(dependencies: readonly Dependency[]): boolean {
  return dependencies.every(({ path, digest }) => digestOf(path) === digest);
}

function digestOf(path: string): string | null {
  if (path.endsWith('/')) {
    const names = markdownNames(path.slice(0, -1));
    return names.length === 0 ? null : sha256Hex(names.join('\n'));
  }
  const bytes = readBounded(path, LARGEST_FILE);
  return bytes === undefined ? null : sha256Hex(bytes);
}
