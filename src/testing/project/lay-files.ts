import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { TestCase } from '../file/test-file.js';

/** Lays the files of a case over its project, then its edits. `folder`: of the test file. */
export function layFiles(root: string, { files, edit = {} }: Pick<TestCase, 'files' | 'edit'>, folder: string): void {
  if (typeof files === 'string') {
    cpSync(resolve(folder, files), root, { recursive: true, verbatimSymlinks: true });
  }
  const written = typeof files === 'object' ? files : {};
  for (const [path, text] of [...Object.entries(written), ...Object.entries(edit)]) {
    const target = join(root, path);
    if (text === null) {
      rmSync(target, { recursive: true, force: true });
      continue;
    }
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}
