import { resolve } from 'node:path';
import { isTestFile } from '../../model/names.js';
import { isInside } from '../../util/inside.js';
import type { Project } from '../../util/project.js';
import { readBounded } from '../../util/read-bounded.js';
import { statIfThere } from '../../util/stat.js';
import { projectFiles, testsAmong } from '../project/project-files.js';

interface FoundTests {
  /** Absolute. */
  readonly files: readonly string[];
  /** Named by the person, and nothing is there. */
  readonly missing: readonly string[];
}

/** The test files for the arguments: files, folders, flows with a test beside them; none means all. */
export async function findTests(project: Project, typed: readonly string[], cwd: string): Promise<FoundTests> {
  const files = new Set<string>();
  const missing: string[] = [];
  let all: readonly string[] | undefined;
  const inFolder = async (folder: string) => {
    all ??= await allTests(project);
    return all.filter((file) => isInside(folder, file));
  };
  for (const word of typed.length === 0 ? [project.root] : typed) {
    const path = resolve(cwd, word);
    const found = statIfThere(path)?.isDirectory() ? await inFolder(path) : fileOf(path);
    if (found.length === 0) missing.push(word);
    for (const file of found) files.add(file);
  }
  return { files: [...files].sort(), missing: typed.length === 0 ? [] : missing };
}

function fileOf(path: string): readonly string[] {
  const beside = path.replace(/\.(ya?ml|json)$/i, '.test.yaml');
  const candidates = isTestFile(path) ? [path] : [beside, beside.replace(/\.yaml$/, '.yml'), path];
  return candidates.filter((candidate) => statIfThere(candidate)?.isFile()).slice(0, 1);
}

/** Other tools use that file name, too: a file without a flow and without cases is not ours. */
async function allTests(project: Project): Promise<readonly string[]> {
  const files = testsAmong(await projectFiles(project)).map((path) => resolve(project.root, path));
  return files.filter((file) =>
    /^["']?(flow|cases)["']?\s*:/m.test(readBounded(file, 1024 * 1024)?.toString('utf8') ?? ''),
  );
}
