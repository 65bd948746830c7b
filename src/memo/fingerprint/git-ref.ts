import { findRepository, readCommit } from './git-repository.js';
import type { Source, SourceContext, SourceResult } from './source.js';
import type { Fingerprint } from './syntax.js';

export const OUTSIDE_REPOSITORY = 'the project is not in a git repository: git fingerprints are empty';

/** The commit. Reading git's files takes microseconds where asking git takes milliseconds. */
export const resolveGitRef: Source<Fingerprint & { source: 'git-ref' }> = async ({ ref }, _options, context) => {
  const repository = findRepository(context.project);
  if (repository === 'none') return { value: '', warning: OUTSIDE_REPOSITORY };
  const commit = repository === 'unusual' ? undefined : readCommit(repository, ref);
  return commit === undefined ? askGit(ref, context) : { value: commit };
};

async function askGit(ref: string, { exec, project }: SourceContext): Promise<SourceResult> {
  const argv = [
    'git',
    '--no-optional-locks',
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${ref}^{commit}`,
  ];
  const result = await exec(argv, project.root);
  if ('failed' in result) return { failed: `git failed: ${result.failed}` };
  const commit = result.stdout.toString('latin1').trim();
  if (result.exitCode !== 0 || !/^[0-9a-f]{40,64}$/.test(commit)) return { failed: refProblem(ref, result.stderrTail) };
  return { value: commit };
}

function refProblem(ref: string, stderr: string | undefined): string {
  const detail = stderr?.trim().split('\n').at(-1);
  if (detail) return `git failed: ${detail}`;
  return ref === 'HEAD' ? 'the repository has no commit yet' : `git knows no commit ${ref}`;
}
