import { join } from 'node:path';
import { prepareFolder } from './folder.js';
import { MAINTENANCE } from './paths.js';

/** Longer than most maintenance takes, and than a killed holder keeps the lock; a person waits for it. */
const PATIENCE_MS = 9_000;
const POLL_MS = 100;
/** A holder that has not touched its lock for this long was killed, or stopped. */
const STALE_MS = 5_000;
const TOUCH_MS = 1_000;

/**
 * One maintenance at a time (clearing, collecting, verifying, folding the log into the index). The lock only saves
 * work: each step is safe beside runs and beside another maintenance, so a stopped holder that has lost the lock does
 * no harm. The library is loaded here, because a run that keeps nothing does not need it.
 */
export async function withMaintenanceLock<T>(
  dir: string,
  work: () => T | Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<T | { busy: string }> {
  const prepared = prepareFolder(dir);
  if ('failed' in prepared) return { busy: `cannot write to the cache: ${prepared.failed.message}` };
  const { lock } = await import('proper-lockfile');
  let release: () => Promise<void>;
  try {
    release = await lock(dir, {
      lockfilePath: join(dir, MAINTENANCE),
      realpath: false,
      stale: STALE_MS,
      update: TOUCH_MS,
      retries: {
        retries: Math.ceil(patienceMs / POLL_MS),
        factor: 1,
        minTimeout: POLL_MS,
        maxTimeout: POLL_MS,
      },
      // Two holders do no harm: see above.
      onCompromised: () => {},
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return {
      busy: code === 'ELOCKED' ? 'another process is tidying up the cache' : `cannot lock the cache: ${message}`,
    };
  }
  try {
    return await work();
  } finally {
    // Another process has it now, or the folder is gone: there is nothing to release.
    await release().catch(() => {});
  }
}
