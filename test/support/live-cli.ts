import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CLI, type CliResult, cliEnvironment } from './cli.js';

/** The real command line in a real process that can be watched and signalled while it runs. */
export interface LiveCli {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  /** `signal` is set when it was ended by one. */
  readonly done: Promise<CliResult & { readonly signal: NodeJS.Signals | null }>;
}

export function startCli(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env?: Readonly<Record<string, string | undefined>> },
): LiveCli {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: cliEnvironment(cwd, env) as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const done: LiveCli['done'] = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status, signal) => resolve({ status, signal, stdout, stderr }));
  });
  return {
    child,
    pid: child.pid!,
    stdout: () => stdout,
    stderr: () => stderr,
    kill: (signal) => child.kill(signal),
    done,
  };
}

/** Lines of a file that may not be there yet. */
export function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    // Nothing has been written yet.
    return [];
  }
}
