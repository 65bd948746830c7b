import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATIENCE_MS = 300_000;

/**
 * A folder with what users get: what `npm pack` makes, installed, with the packages that they add. Made once per
 * suite by the first test file that asks for it, while the others wait: tests of the sources alone do not wait for it.
 */
export async function installedPackage(...added: readonly string[]): Promise<string> {
  const folder = join(tmpdir(), 'installed');
  const outcome = join(folder, 'outcome');
  if (mkdirSync(folder, { recursive: true }) !== undefined) {
    await install(folder, added).then(
      () => writeFileSync(outcome, ''),
      (error: Error) => writeFileSync(outcome, error.message),
    );
  }
  for (const end = Date.now() + PATIENCE_MS; !existsSync(outcome); await sleep(20)) {
    if (Date.now() > end) throw new Error('nobody has installed the package');
  }
  const problem = readFileSync(outcome, 'utf8');
  if (problem !== '') throw new Error(`the package could not be installed: ${problem}`);
  return folder;
}

async function install(folder: string, added: readonly string[]): Promise<void> {
  // npm needs the user's settings: the registry, a proxy.
  const env = inject('outside');
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, env });
  const archive = readdirSync(folder).find((file) => file.endsWith('.tgz'))!;
  const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', '--silent'];
  await run('npm', ['install', ...quick, join(folder, archive), ...added], { cwd: folder, env });
}
