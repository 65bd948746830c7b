import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInRepository } from '../../memo/fingerprint/git-repository.js';
import { isTestFile } from '../../model/names.js';
import { askGit } from '../../process/git.js';
import { type Project, STATE_DIR } from '../../util/project.js';

/** Files of a project, from its root with forward slashes. */
interface ProjectFiles {
  readonly paths: readonly string[];
  /** Git says which files it has. */
  readonly inRepository: boolean;
}

const NOT_COPIED = new Set(['.git', 'node_modules', `${STATE_DIR}/cache`, `${STATE_DIR}/runs`]);

/** The files that git tracks or would add; without git, all but installed packages and taskflow's own. */
export async function projectFiles(project: Project, signal?: AbortSignal): Promise<ProjectFiles> {
  const listed = isInRepository(project) ? await listedByGit(project, signal) : undefined;
  const paths = listed ?? walked(project.root);
  return { paths: paths.filter((path) => !isKept(path)), inRepository: listed !== undefined };
}

async function listedByGit({ root, env }: Project, signal?: AbortSignal): Promise<readonly string[] | undefined> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const answer = await askGit(args, { cwd: root, env, signal });
  return 'failed' in answer ? undefined : answer.stdout.split('\0').filter((path) => path !== '');
}

function isKept(path: string): boolean {
  return [...NOT_COPIED].some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function walked(root: string): readonly string[] {
  const paths: string[] = [];
  const open = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (NOT_COPIED.has(path) || entry.name === 'node_modules' || entry.name === '.git') continue;
      if (entry.isDirectory()) open.push(path);
      else if (entry.isFile() || entry.isSymbolicLink()) paths.push(path);
    }
  }
  return paths.sort();
}

export function testsAmong({ paths }: ProjectFiles): readonly string[] {
  return paths.filter((path) => isTestFile(path));
}

/** Leaves out tests and recordings, so that a flow that reads all files does not see what testing it adds. */
export function withoutTests(files: ProjectFiles): readonly string[] {
  const tests = new Set(testsAmong(files));
  const recordings = new Set([...tests].map((test) => join(dirname(test), 'recordings/')));
  return files.paths.filter((path) => !tests.has(path) && ![...recordings].some((folder) => path.startsWith(folder)));
}
