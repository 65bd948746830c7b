import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const INSTALLED = fileURLToPath(new URL('./node_modules', import.meta.url));

export interface Started {
  readonly port: number;
  stop(): Promise<void>;
}

/** Servers are where only root's PATH leads. */
const PATH = `${process.env['PATH']}:/usr/sbin:/usr/local/sbin`;

/** Whether a program is here. In CI it has to be, if it can be installed: there nothing else is skipped. */
export function isThere(program: string, install?: string): boolean {
  if (spawnSync(program, ['-v'], { env: { PATH } }).error === undefined) return true;
  const missing = `${program} is not installed${install ? ` (${install})` : ''}`;
  if (install && process.env['TASKFLOW_SERVERS'] === 'required') throw new Error(missing);
  console.warn(`skipped: ${missing}`);
  return false;
}

/** Starts a server with a folder of its own on a free port of this machine, and waits until it answers. */
export async function startServer(
  prepare: (port: number, folder: string) => { argv: readonly string[]; env?: Readonly<Record<string, string>> },
): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'server-'));
  const port = await freePort();
  const { argv, env } = prepare(port, folder);
  const child = spawn(argv[0]!, argv.slice(1), { cwd: folder, env: { ...process.env, PATH, ...env }, stdio: 'pipe' });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
  const stop = async () => {
    await ended(child);
    rmSync(folder, { recursive: true, force: true });
  };
  for (let left = 200; !(await answers(port)); left--) {
    if (left === 0 || child.exitCode !== null) {
      await stop();
      throw new Error(`${argv.join(' ')} does not answer:\n${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { port, stop };
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 3_000).unref();
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ port, host: '127.0.0.1', path: '/' }, (response) => {
      response.resume();
      resolve(true);
    });
    asked.on('error', () => resolve(false));
    asked.end();
  });
}
