import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

export interface DetachedRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An open file that gets the program's output. Default: none. */
  readonly log?: number;
  /** Its stdin: short enough for a pipe to hold after this process has ended. */
  readonly input?: string;
}

interface Detached {
  readonly pid: number;
  /** The status that it ended with, once it has. */
  readonly ended: Promise<number>;
}

/** Starts a program that outlives this process and its terminal: in a session of its own. */
export function startDetached({
  argv,
  cwd,
  env,
  log,
  input,
}: DetachedRequest): Promise<Detached | { readonly failed: string }> {
  return new Promise((resolve) => {
    const stdin = input === undefined ? 'ignore' : 'pipe';
    const child = spawn(argv[0]!, argv.slice(1), {
      cwd,
      env,
      detached: true,
      stdio: [stdin, log ?? 'ignore', log ?? 'ignore'],
    });
    // It may end without reading.
    child.stdin?.on('error', () => {}).end(input);
    const ended = new Promise<number>((settle) => child.once('exit', (code) => settle(code ?? 1)));
    child.once('error', (error) => resolve({ failed: error.message }));
    child.once('spawn', () => {
      child.unref();
      (child.stdin as Socket | null)?.unref();
      resolve({ pid: child.pid!, ended });
    });
  });
}
