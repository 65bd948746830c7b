import { spawn } from 'node:child_process';

export interface DetachedRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An open file that gets what the program prints. */
  readonly log: number;
}

export interface Detached {
  readonly pid: number;
  /** The status that it ended with, once it has. */
  readonly ended: Promise<number>;
}

/** Starts a program that outlives this process and its terminal: in a session of its own, with nothing to read. */
export function startDetached({
  argv,
  cwd,
  env,
  log,
}: DetachedRequest): Promise<Detached | { readonly failed: string }> {
  return new Promise((resolve) => {
    const child = spawn(argv[0]!, argv.slice(1), { cwd, env, detached: true, stdio: ['ignore', log, log] });
    const ended = new Promise<number>((settle) => child.once('exit', (code) => settle(code ?? 1)));
    child.once('error', (error) => resolve({ failed: error.message }));
    child.once('spawn', () => {
      child.unref();
      resolve({ pid: child.pid!, ended });
    });
  });
}
