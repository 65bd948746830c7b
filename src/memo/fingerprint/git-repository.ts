import { dirname, join } from 'node:path';
import { askGit, type GitAnswer } from '../../process/git.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import type { SourceContext } from './source.js';

export const OUTSIDE_REPOSITORY = 'the project is not in a git repository: git fingerprints are empty';

/** Whether the project is in a repository. */
export function isInRepository({ root, env }: Project): boolean {
  if (env['GIT_DIR'] !== undefined) return true;
  for (let folder = root; ; folder = dirname(folder)) {
    if (statIfThere(join(folder, '.git'))) return true;
    if (dirname(folder) === folder) return false;
  }
}

/** Git's answer about a folder of the project, or why there is none. */
export async function ask(
  args: readonly string[],
  { project, signal }: SourceContext,
  cwd = project.root,
): Promise<GitAnswer> {
  const answer = await askGit(args, { cwd, env: project.env, signal: signal?.() });
  return 'failed' in answer ? { ...answer, failed: `git failed: ${answer.failed}` } : answer;
}
