import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newKeyPair } from '../../src/remote/trust.js';
import { type CacheServer, startCacheServer } from '../support/cache-server.js';
import { cleanEnvironment, shareCompiledCode } from '../support/clean-environment.js';
import { installedPackage } from '../support/installed-package.js';
import { type RedisServer, startRedis } from './redis.js';

/** The command that users run, with what they install for workers. */
const CLI = join(await installedPackage('bullmq@6', 'ioredis@5'), 'node_modules/taskflow-cli/dist/taskflow.cjs');

export interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of the command that goes on. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Result>;
  said(): string;
  /** Waits until it has said this on either stream. */
  says(text: string, ms?: number): Promise<void>;
}

/**
 * A coordinator's checkout and a worker's, each with a home and a store of its own, one queue and one shared cache.
 * `bin/tick NAME` writes its name to a log outside of both, so that every execution is counted.
 */
export interface Team {
  readonly redis: RedisServer;
  readonly cache: CacheServer;
  readonly root: string;
  readonly workerRoot: string;
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
  /** Names in order. */
  executions(): string[];
  /** Names of those that were executed in the coordinator's own folder. */
  executedHere(): string[];
  write(path: string, text: string, mode?: number): void;
  /** Commits everything. The worker's repository fetches from here. */
  commit(): void;
  /** The worker's own files, settings among them, as in the last commit. */
  pull(): void;
  start(args: readonly string[], env?: Readonly<Record<string, string>>): Running;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Result>;
  worker(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Running>;
  stop(): Promise<void>;
}

export async function createTeam(redisOptions?: readonly string[]): Promise<Team> {
  const base = mkdtempSync(join(tmpdir(), 'workers-'));
  const [root, workerRoot, log] = [join(base, 'a/project'), join(base, 'w/project'), join(base, 'log')];
  const [redis, cache] = await Promise.all([startRedis(join(base, 'redis'), redisOptions), startCacheServer()]);
  const { privateKey, publicKey } = newKeyPair();
  const env = { TEAM_KEY: privateKey, NO_COLOR: '1' };
  const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd, stdio: 'pipe' });
  const write: Team['write'] = (path, text, mode) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    if (mode !== undefined) chmodSync(join(root, path), mode);
  };
  const tick = `#!/bin/sh\nprintf '%s %s\\n' "$1" "$PWD" >> '${log}'\nsleep "\${2:-0}"\nprintf 'made %s\\n' "$1"\n`;
  write('bin/tick', tick, 0o755);
  write('.gitignore', '.pi/taskflows/cache\n.pi/taskflows/runs\n');
  const trust = `trust: { sign: { env: TEAM_KEY }, keys: { team: "${publicKey}" } }`;
  const settings = `cache:\n  remote: { url: "${cache.url}" }\n  ${trust}\nworkers: { lock: 2s, wait: 3s }\n`;
  write('.pi/taskflows/config.yaml', settings);
  git(root, 'init', '-q', '-b', 'main');
  git(root, 'config', 'user.email', 'a@example.org');
  git(root, 'config', 'user.name', 'a');
  git(root, 'add', '-A');
  git(root, 'commit', '-qm', 'first');
  mkdirSync(dirname(workerRoot), { recursive: true });
  git(base, 'clone', '-q', root, workerRoot);
  for (const machine of ['a', 'w']) shareCompiledCode(join(base, machine, 'cache'));
  const running = new Set<ChildProcess>();
  const startIn = (cwd: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): Running => {
    const home = { HOME: dirname(cwd), XDG_CACHE_HOME: join(dirname(cwd), 'cache') };
    const environment = { PATH: process.env['PATH'], ...cleanEnvironment(), ...home, ...env, ...more };
    const child = spawn(process.execPath, [CLI, ...args], { cwd, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    return watch(child);
  };
  const lines = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : []);
  const nameOf = (line: string) => line.split(' ')[0]!;
  return {
    ...{ redis, cache, root, workerRoot, base, env, write },
    executions: () => lines().map(nameOf),
    executedHere: () => lines().flatMap((line) => (line.endsWith(` ${root}`) ? [nameOf(line)] : [])),
    commit: () => {
      git(root, 'add', '-A');
      git(root, 'commit', '-qm', 'more', '--allow-empty');
    },
    pull: () => void git(workerRoot, 'pull', '-q'),
    start: (args, more) => startIn(root, args, more),
    run: (args, more) => startIn(root, args, more).ended,
    worker: async (args = [], more) => {
      const worker = startIn(workerRoot, ['worker', '--queue', redis.url, ...args], more);
      await worker.says('waits for units');
      return worker;
    },
    stop: async () => {
      for (const child of running) child.kill('SIGKILL');
      await Promise.all([redis.stop(), cache.stop()]);
      rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

function watch(child: ChildProcess): Running {
  let [stdout, stderr] = ['', ''];
  child.stdout!.on('data', (chunk) => (stdout += String(chunk)));
  child.stderr!.on('data', (chunk) => (stderr += String(chunk)));
  const ended = new Promise<Result>((resolve) => child.once('close', (status) => resolve({ status, stdout, stderr })));
  return {
    child,
    ended,
    said: () => stdout + stderr,
    says: async (text, ms = 20_000) => {
      for (const end = Date.now() + ms; !(stdout + stderr).includes(text); await sleep(20)) {
        if (Date.now() > end || child.exitCode !== null)
          throw new Error(`it does not say "${text}":\n${stdout}${stderr}`);
      }
    },
  };
}

/** A map over so many items, each counted under its number. */
export function mapFlow(items: number, { seconds = 0, more = {} }: { seconds?: number; more?: object } = {}): string {
  const over = Array.from({ length: items }, (_, index) => `i${index}`);
  const cache = { scope: 'cross-run', fingerprint: ['file:bin/tick'] };
  const phase = { id: 'all', type: 'map', over, run: ['bin/tick', '{item}', String(seconds)], cache, ...more };
  return JSON.stringify({ name: 'many', phases: [phase] });
}
