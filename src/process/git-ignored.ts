import { askGit, type GitOptions } from './git.js';

const IGNORED = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];

/** Files and folders that git ignores, relative to the folder; undefined where git fails. */
export async function gitIgnored(options: GitOptions): Promise<readonly string[] | undefined> {
  const answer = await askGit(IGNORED, options);
  if ('failed' in answer) return undefined;
  return answer.stdout.split('\0').flatMap((path) => (path === '' ? [] : [path.replace(/\/$/, '')]));
}
