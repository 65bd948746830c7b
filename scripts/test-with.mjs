// Tests with large programs that are installed on demand: `node scripts/test-with.mjs FOLDER`, a folder of test/ with a
// lock file of its own. Installs what it names when that has changed since the last time, then runs the tests in it.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [name, ...args] = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}test/${name}`;
const lock = `${folder}/package-lock.json`;
const installed = `${folder}/node_modules/.installed-lock.json`;

function run(command, commandArgs, cwd) {
  const { status, error } = spawnSync(command, commandArgs, { cwd, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(installed) || !readFileSync(installed).equals(readFileSync(lock))) {
  run('npm', ['ci', '--no-audit', '--no-fund'], folder);
  copyFileSync(lock, installed);
}
run('npx', ['vitest', 'run', '--config', `test/${name}/vitest.config.ts`, ...args], root);
