import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Diagnostic } from '../../model/diagnostic.js';
import { isTestFile } from '../../model/names.js';
import { relativePath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';
import { loadTest } from '../file/load-test.js';
import type { TestFile } from '../file/test-file.js';
import { readRecordings } from '../recordings/read-recordings.js';
import { Recordings, type RecordMode } from '../recordings/recordings.js';
import type { Tested } from './run-suite.js';

type OpenedTests =
  | { readonly tested: readonly Tested[]; readonly warnings: readonly Diagnostic[] }
  | { readonly diagnostics: readonly Diagnostic[] };

/** Test files with their flows and recordings; or all their problems. */
export async function openTests(project: Project, paths: readonly string[], mode: RecordMode): Promise<OpenedTests> {
  const files: TestFile[] = [];
  const problems: Diagnostic[] = [];
  for (const path of paths) {
    const loaded = await loadTest(project, path);
    if ('test' in loaded) files.push(loaded.test);
    problems.push(...('test' in loaded ? loaded.warnings : loaded.diagnostics));
  }
  const folders = new Map<string, Recordings>();
  for (const { recordings: folder } of files) {
    if (folders.has(folder)) continue;
    const read = await readRecordings(folder, relativePath(project.root, folder));
    folders.set(folder, new Recordings(folder, read.recordings, mode));
    problems.push(...read.problems);
  }
  if (problems.some(({ severity }) => severity === 'error')) return { diagnostics: problems };
  const tested: Tested[] = [];
  for (const file of files) {
    tested.push({ file, recordings: folders.get(file.recordings)!, shared: await isShared(project, file, files) });
  }
  return { tested, warnings: problems };
}

/** Whether a test file beside this one, which does not run now, uses the same recordings. */
async function isShared(project: Project, { file, recordings }: TestFile, all: readonly TestFile[]): Promise<boolean> {
  const folder = dirname(file);
  const others = readdirSync(folder)
    .filter((name) => isTestFile(name))
    .map((name) => join(folder, name))
    .filter((path) => all.every((each) => each.file !== path));
  for (const other of others) {
    const loaded = await loadTest(project, other);
    // A file with problems might use them.
    if (!('test' in loaded) || loaded.test.recordings === recordings) return true;
  }
  return false;
}
