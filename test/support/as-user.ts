import { spawn } from 'node:child_process';
import { chownSync, lchownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CLI, type CliResult, cliEnvironment } from './cli.js';

/** A second user of this machine: any number but root's will do. */
export const STRANGER = 54_321;

/** Only root can act as somebody else. Say so where a test is left out for want of that. */
export const canBeOthers = process.getuid?.() === 0;
if (!canBeOthers) console.warn('not root: tests with a second user are left out');

/** Gives a folder and all that is in it to somebody. */
export function give(path: string, uid: number): void {
  lchownSync(path, uid, uid);
  if (!lstatSync(path).isDirectory()) return;
  chownSync(path, uid, uid);
  for (const name of readdirSync(path)) give(join(path, name), uid);
}

/** The real command line as another user. */
export function runCliAs(
  uid: number,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env?: Readonly<Record<string, string | undefined>> },
): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const environment = cliEnvironment(cwd, env) as NodeJS.ProcessEnv;
    const child = spawn(process.execPath, [CLI, ...args], { cwd, env: environment, uid, gid: uid });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, stdout, stderr }));
  });
}
