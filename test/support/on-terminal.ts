import { spawn, spawnSync } from 'node:child_process';
import { CLI, cliEnvironment } from './cli.js';

/** script(1) makes real terminals. */
export const hasScript = spawnSync('script', ['--version']).status === 0;

/** What is typed once `when` has appeared on the screen. */
export interface Typing {
  readonly when?: string;
  readonly type?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the command line on a real terminal. */
export function runOnTerminal(
  args: readonly string[],
  { cwd, when, type, env }: Typing & { readonly cwd: string },
): Promise<{ status: number | null; screen: string }> {
  const line = [process.execPath, CLI, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd,
    env: { ...cliEnvironment(cwd, env), TERM: 'xterm-256color' } as NodeJS.ProcessEnv,
  });
  let screen = '';
  let typed = false;
  child.stdout.on('data', (chunk: Buffer) => {
    screen += chunk.toString('utf8');
    if (!typed && when !== undefined && screen.includes(when)) {
      typed = true;
      child.stdin.write(type!);
    }
  });
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, screen })));
}
