import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HOME, KEPT, WORK } from './paths.mjs';

/** Makes this process's folder, and removes those of processes that are gone. */
export function makeWorkFolder() {
  mkdirSync(KEPT, { recursive: true });
  mkdirSync(HOME, { recursive: true, mode: 0o700 });
  removeAbandoned(KEPT, /^run-(\d+)$/);
  removeAbandoned(dirname(HOME), /^taskflow-bench-home-(\d+)$/);
  mkdirSync(WORK, { recursive: true });
}

function removeAbandoned(folder, pattern) {
  for (const name of readdirSync(folder)) {
    const pid = pattern.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid)))
      rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

export function removeWorkFolder() {
  for (const folder of [WORK, HOME]) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // No such process: a bench that was killed left its folder behind.
    return false;
  }
}
