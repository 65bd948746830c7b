// Tests with the real agent clients: installs them when their lock file changed since the last time, then runs the suite.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}test/clients`;
const lock = `${folder}/package-lock.json`;
const installed = `${folder}/node_modules/.installed-lock.json`;

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(installed) || !readFileSync(installed).equals(readFileSync(lock))) {
  run('npm', ['ci', '--no-audit', '--no-fund'], folder);
  copyFileSync(lock, installed);
}
run('npx', ['vitest', 'run', '--config', 'test/clients/vitest.config.ts', ...process.argv.slice(2)], root);
