import { join } from 'node:path';
import { prepareFolder } from './folder.js';
import { LOCK } from './paths.js';

/**
 * One maintenance at a time. It only saves work: each step by itself is safe beside runs and beside another maintenance,
 * so a lock that is lost half-way (a machine that slept) is no harm.
 */
export async function withMaintenanceLock<T>(dir: string, work: () => T | Promise<T>): Promise<T | { busy: string }> {
  const prepared = prepareFolder(dir);
  if ('failed' in prepared) return { busy: `cannot write to the cache: ${prepared.failed.message}` };
  const { lock } = await import('proper-lockfile');
  let release: () => Promise<void>;
  try {
    release = await lock(dir, {
      lockfilePath: join(dir, LOCK),
      realpath: false,
      stale: 20_000,
      retries: { retries: 20, minTimeout: 50, maxTimeout: 500 },
      onCompromised: () => {},
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { busy: code === 'ELOCKED' ? 'another process is tidying up the cache' : message };
  }
  try {
    return await work();
  } finally {
    // Already released when it was taken for stale: nothing left to do.
    await release().catch(() => {});
  }
}
