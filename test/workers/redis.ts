import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const INSTALL = 'apt-get install -y redis-server';

/** Whether the server is here. In CI it has to be: there nothing is skipped. */
export function hasRedis(): boolean {
  if (spawnSync('redis-server', ['--version']).error === undefined) return true;
  if (process.env['TASKFLOW_SERVERS'] === 'required') throw new Error(`redis-server is missing: ${INSTALL}`);
  console.warn(`skipped: redis-server is not installed (${INSTALL})`);
  return false;
}

/** A real server on a free port of this machine, which can be killed and started again. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  start(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export async function startRedis(
  folder: string,
  options: readonly string[] = ['--appendonly', 'yes'],
): Promise<RedisServer> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  let child: ChildProcess | undefined;
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...options];
  const server: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    port,
    start: async () => {
      child = spawn('redis-server', args, { stdio: 'ignore' });
      for (let left = 200; !(await accepts(port)); left--) {
        if (left === 0) throw new Error('redis-server does not answer');
        await sleep(25);
      }
    },
    stop: async (signal = 'SIGKILL') => {
      const { exitCode, signalCode } = child ?? { exitCode: 0, signalCode: null };
      if (exitCode !== null || signalCode !== null) return;
      const ended = new Promise((resolve) => child!.once('exit', resolve));
      child!.kill(signal);
      await ended;
    },
  };
  await server.start();
  return server;
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

/** It also has loaded what it kept: until then it answers with an error. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.on('data', (data) => {
      resolve(String(data).startsWith('+PONG'));
      socket.destroy();
    });
    socket.on('error', () => resolve(false));
  });
}
