import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrnoError, writeFileAtomic } from '../util/atomic-write.js';

const TAG = `Signature: 8a477f597d28d172789f06886806bc55
# Kept results of taskflow. Everything in here can be made again; backups may leave it out.
`;

/** Makes the folder: private, out of git, and marked as a cache. */
export function prepareFolder(dir: string): { readonly isNew: boolean } | { readonly failed: ErrnoError } {
  let isNew: boolean;
  try {
    isNew = mkdirSync(dir, { recursive: true, mode: 0o700 }) !== undefined;
  } catch (error) {
    return { failed: error as ErrnoError };
  }
  for (const [name, text] of [
    ['.gitignore', '*\n'],
    ['CACHEDIR.TAG', TAG],
  ] as const) {
    const path = join(dir, name);
    if (existsSync(path)) continue;
    const result = writeFileAtomic(path, text);
    if ('failed' in result) return result;
  }
  return { isNew };
}
