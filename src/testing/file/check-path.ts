import { isAbsolute, normalize } from 'node:path';
import type { Place } from '../../check/problem.js';
import { STATE_DIR } from '../../util/project.js';

const OURS = new RegExp(`^(\\.git|${STATE_DIR.replaceAll('.', '\\.')}/(cache|runs))(/|$)`);

/** Checks that a file of a case is inside the project, and not one that git or taskflow keeps there. */
export function checkPath(file: string, { path, problems }: Place): void {
  const plain = normalize(file);
  if (isAbsolute(file) || plain === '..' || plain.startsWith('../') || plain === '.' || file.includes('\0')) {
    const message = `${JSON.stringify(file)} is no file in the project`;
    problems.error(path, 'outside-project', { message, target: 'key', hint: 'paths are from the project root' });
  } else if (OURS.test(plain)) {
    problems.error(path, 'bad-value', { message: `${file} is not for a test to write`, target: 'key' });
  }
}
