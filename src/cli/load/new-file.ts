import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { FLOW_NAME_PATTERN, isForbiddenName, MAX_NAME_LENGTH } from '../../model/names.js';
import { whyUnwritableAt } from '../../util/why-unwritable.js';

/** Of whatever belongs to the project. */
export const WRITABLE_HINT = 'put that right, or work in another folder with --cwd DIR';

/**
 * Writes a new file, never over an existing one, even if that appears at the same moment. A file that could not be
 * written whole is removed: it would pass for a complete one.
 */
export function writeNewFile(path: string, text: string): 'created' | 'there' | { readonly failed: string } {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: 'wx' });
    return 'created';
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && syscall === 'open') return 'there';
    if (syscall === 'write') rmSync(path, { force: true });
    return { failed: whyUnwritableAt(path, error) };
  }
}

/** Whether a new flow may have this name. `config.yaml` is in the same folder and is no flow. */
export function isFreeName(name: string): boolean {
  if (name === 'config' || isForbiddenName(name)) return false;
  return new RegExp(FLOW_NAME_PATTERN).test(name) && name.length <= MAX_NAME_LENGTH;
}
