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
    if (pid !== undefined && !isAlive(Number(pid))) remove(join(folder, name));
  }
}

export function removeWorkFolder() {
  for (const folder of [WORK, HOME]) remove(folder);
}

/** A process that tidies a large store may write there for a moment longer. Node's own retries do not look again. */
function remove(folder) {
  for (let left = 50; ; left -= 1) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (error.code !== 'ENOTEMPTY' || left === 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
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
