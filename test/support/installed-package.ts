import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The end-to-end tests run what users get: what `npm pack` makes, installed into an empty folder, once for all of them. */
export default async function setup(): Promise<void> {
  const folder = join(tmpdir(), 'installed');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
  const archive = readdirSync(folder).find((file) => file.endsWith('.tgz'))!;
  const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', '--silent'];
  await run('npm', ['install', ...quick, join(folder, archive)], { cwd: folder });
  process.env['TASKFLOW_TEST_INSTALLED'] = folder;
}
