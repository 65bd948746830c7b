import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createFingerprints, type FingerprintResolver } from '../../src/memo/fingerprint/resolver.js';
import type { Exec } from '../../src/memo/fingerprint/source.js';
import { systemClock } from '../../src/util/clock.js';
import type { Project } from '../../src/util/project.js';

/** Real processes, without the engine's own way of starting them. */
export const exec: Exec = (argv, cwd) =>
  new Promise((resolve) => {
    const [program, ...args] = argv;
    execFile(program!, args, { cwd, encoding: 'buffer', maxBuffer: 1e9 }, (error, stdout, stderr) => {
      const code = error?.code;
      if (typeof code === 'string') resolve({ failed: error!.message });
      else resolve({ stdout, exitCode: error ? (code ?? null) : 0, stderrTail: stderr.toString() });
    });
  });

/** Where the system says how much a process has read. */
export const COUNTS_BYTES = existsSync('/proc/self/io');

/** By this process, in all system calls. */
export function bytesRead(): number {
  return Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))![1]);
}

export interface TestProject {
  readonly root: string;
  readonly project: Project;
  readonly stateDir: string;
  readonly env: Record<string, string | undefined>;
  /** A resolver of its own, as a new process would have. */
  fingerprints(more?: { exec?: Exec; runCommands?: boolean }): FingerprintResolver;
  /** The value now, or `failed: …`, seen by a new process. */
  value(entry: string, ownOutputs?: string[]): Promise<unknown>;
  write(path: string, content: string | Buffer): void;
  /** Makes the file look as if it had not been touched for a while, so that stat rows about it can be trusted. */
  age(path: string): void;
  git(...args: string[]): string;
  remove(): void;
}

export function testProject(): TestProject {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'taskflow-memo-')));
  const home = `${root}-home`;
  const env: Record<string, string | undefined> = {};
  const project: Project = { root, home, env, clock: systemClock };
  const stateDir = join(root, '.pi/taskflows/cache');
  const self: TestProject = {
    root,
    project,
    stateDir,
    env,
    fingerprints: (more = {}) => createFingerprints({ project, stateDir, exec, ...more }),
    value: async (entry, ownOutputs = []) => {
      const result = await self.fingerprints().resolve(entry, { ownOutputs });
      return 'failed' in result ? `failed: ${result.failed}` : result.value.value;
    },
    write: (path, content) => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    age: (path) => utimesSync(join(root, path), Date.now() / 1000 - 3600, Date.now() / 1000 - 3600),
    git: (...args) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
        cwd: root,
        encoding: 'utf8',
      }).trim(),
    remove: () => {
      for (const folder of [root, home]) rmSync(folder, { recursive: true, force: true });
    },
  };
  return self;
}
