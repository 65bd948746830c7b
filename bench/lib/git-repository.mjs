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
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    [...identity, 'commit', '-q', '-m', 'work'],
  ]) {
    execFileSync('git', args, { cwd: dir, env: benchEnvironment(), stdio: ['ignore', 'ignore', 'inherit'] });
  }
}
