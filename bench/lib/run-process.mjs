import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { HOME, WORK } from './paths.mjs';

const LOG = `${WORK}/last-output.log`;

/**
 * A small environment, the same for everybody: the user's own settings and home folder must not decide a measurement.
 * @param {Record<string, string>} [more]
 */
export function benchEnvironment(more = {}) {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME,
    LANG: 'C.UTF-8',
    NO_COLOR: '1',
    DO_NOT_TRACK: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    ...more,
  };
}

/**
 * Runs a program to its end and says how long that took, from before the spawn to the exit. Its output goes to a file:
 * cheap, and there when it fails.
 *
 * @param {{ argv: string[], cwd: string, env?: Record<string, string>, timeoutMs?: number }} request
 * @returns {Promise<number>} milliseconds
 */
export function runProcess({ argv, cwd, env, timeoutMs = 300_000 }) {
  return new Promise((resolve, reject) => {
    const log = openSync(LOG, 'w');
    const started = performance.now();
    const [program = '', ...args] = argv;
    const child = spawn(program, args, {
      cwd,
      env: benchEnvironment(env),
      stdio: ['ignore', log, log],
      detached: true,
    });
    const timer = setTimeout(() => endGroup(child.pid), timeoutMs);
    const finish = (/** @type {string | undefined} */ problem) => {
      clearTimeout(timer);
      closeSync(log);
      if (problem === undefined) resolve(performance.now() - started);
      else reject(new Error(`${problem}: ${lastLines(readFileSync(LOG, 'utf8'))}`));
    };
    child.on('error', (error) => finish(error.message));
    child.on('exit', (code, signal) => finish(code === 0 ? undefined : `ended with ${signal ?? `status ${code}`}`));
  });
}

function endGroup(pid) {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}

function lastLines(text) {
  return text.trim().split('\n').slice(-4).join(' | ').slice(-400);
}
