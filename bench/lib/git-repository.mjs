import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { benchEnvironment } from './run-process.mjs';

/**
 * Some peers hash files through git, so their workspace is a repository with one commit.
 * @param {string} dir
 * @param {string[]} ignored
 */
export function makeRepository(dir, ignored) {
  writeFileSync(`${dir}/.gitignore`, `${ignored.join('\n')}\n`);
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];
  // Git must not tidy the repository in the background while it is measured, or removed.
  const quiet = ['-c', 'gc.auto=0', '-c', 'maintenance.auto=false'];
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    [...identity, ...quiet, 'commit', '-q', '-m', 'work'],
  ]) {
    execFileSync('git', args, { cwd: dir, env: benchEnvironment(), stdio: ['ignore', 'ignore', 'inherit'] });
  }
}
