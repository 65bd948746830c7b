import { runProcess } from '../../process/run-process.js';
import type { Project } from '../../util/project.js';

type Place = Pick<Project, 'root' | 'env'>;

/** Fixed, so that the commit has the same hash on every machine. */
const WHEN = '2000-01-01T00:00:00Z';
const WHO = { NAME: 'taskflow', EMAIL: 'taskflow@localhost', DATE: WHEN };
const IDENTITY = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) => Object.entries(WHO).map(([what, is]) => [`GIT_${role}_${what}`, is])),
);

/** Override settings of the user that would change what is committed, or ask for a key. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.autocrlf=false',
  'commit.gpgSign=false',
  'advice.addIgnoredFile=false',
];

/** Makes a repository of a folder: one commit, on `main`. False where git cannot. */
export async function commitAll(place: Place, signal?: AbortSignal): Promise<boolean> {
  const steps = [
    ['init', '--quiet', '--initial-branch=main', '--template='],
    ['add', '--all', '--force'],
    ['commit', '--quiet', '--allow-empty', '--no-verify', '--message=project'],
  ];
  for (const step of steps) if ((await git(step, place, { signal })) === undefined) return false;
  return true;
}

/** Makes new files known to git without committing them. */
export async function trackNew(place: Place, signal?: AbortSignal): Promise<void> {
  const untracked = await git(['ls-files', '-z', '--others', '--exclude-standard'], place, { signal });
  if (untracked === undefined || untracked.length === 0) return;
  const args = ['add', '--intent-to-add', '--pathspec-from-file=-', '--pathspec-file-nul'];
  await git(['--literal-pathspecs', ...args], place, { signal, input: untracked });
}

/** What git printed; undefined where it failed. */
async function git(
  args: readonly string[],
  { root, env }: Place,
  { signal, input }: { readonly signal?: AbortSignal | undefined; readonly input?: Buffer },
): Promise<Buffer | undefined> {
  const argv = ['git', ...SETTINGS.flatMap((setting) => ['-c', setting]), ...args];
  const { failure, stdout } = await runProcess({
    ...{ argv, cwd: root, env: { ...env, ...IDENTITY } },
    ...(signal && { signal }),
    ...(input && { input }),
  });
  return failure ? undefined : stdout;
}
