import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cleanEnvironment } from './clean-environment.js';
import { installedPackage } from './installed-package.js';

/** A folder into which the package was installed. */
export const INSTALLED = await installedPackage();
/** The command that users run. */
export const CLI = join(INSTALLED, 'node_modules/taskflow-cli/dist/taskflow.cjs');

export interface CliOptions {
  readonly cwd: string;
  /** Over a small, clean environment: nothing of the machine that runs the tests leaks in. Undefined removes. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Buffer;
  /** Another Node than that of the tests. */
  readonly node?: string;
}

export interface CliResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function cliEnvironment(cwd: string, env: CliOptions['env'] = {}): Record<string, string | undefined> {
  // A home of its own beside the project keeps the user's settings and agents out.
  const { PATH, TMPDIR } = process.env;
  // A test with a home of its own looks at what is kept there.
  const cache = env['HOME'] === undefined ? {} : { XDG_CACHE_HOME: undefined };
  return { PATH, TMPDIR, ...cleanEnvironment(), HOME: join(cwd, '.home'), ...cache, ...env };
}

/** Runs the real command line in a real process. */
export function runCli(
  args: readonly string[],
  { cwd, env, input, node = process.execPath }: CliOptions,
): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [CLI, ...args], { cwd, env: cliEnvironment(cwd, env) as NodeJS.ProcessEnv });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.stdin.on('error', () => {}); // The command may end without reading its input.
    child.stdin.end(input ?? '');
    child.on('error', reject);
    child.on('close', (status) =>
      resolve({ status, stdout: Buffer.concat(out).toString('utf8'), stderr: Buffer.concat(err).toString('utf8') }),
    );
  });
}

/** A fresh project folder with the given files. `.pi` makes it its own project root. */
export interface TestProject {
  readonly root: string;
  write(path: string, text: string, mode?: number): void;
  run(args: readonly string[], options?: Omit<CliOptions, 'cwd'>): Promise<CliResult>;
  remove(): void;
}

export function createTestProject(files: Readonly<Record<string, string>> = {}): TestProject {
  const root = mkdtempSync(join(tmpdir(), 'taskflow-test-'));
  const write = (path: string, text: string, mode?: number) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    if (mode !== undefined) chmodSync(join(root, path), mode);
  };
  mkdirSync(join(root, '.pi'));
  for (const [path, text] of Object.entries(files)) write(path, text);
  return {
    root,
    write,
    run: (args, options) => runCli(args, { cwd: root, ...options }),
    // A run that was left to itself may still write its last lines.
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }),
  };
}
