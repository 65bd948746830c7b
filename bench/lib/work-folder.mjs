import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { KEPT, WORK } from './paths.mjs';

/** Makes this process's folder, and removes those of processes that are gone. */
export function makeWorkFolder() {
  mkdirSync(`${KEPT}/home`, { recursive: true });
  for (const name of readdirSync(KEPT)) {
    const pid = /^run-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(`${KEPT}/${name}`, { recursive: true, force: true });
  }
  mkdirSync(WORK, { recursive: true });
}

export function removeWorkFolder() {
  rmSync(WORK, { recursive: true, force: true, maxRetries: 3 });
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
