import { join } from 'node:path';
import type { Clock } from '../util/clock.js';
import { dropClaim } from './claim-file.js';
import { prepareFolder } from './folder.js';
import { MAINTENANCE } from './paths.js';
import { waitForClaim } from './wait-for-claim.js';

/** Longer than most maintenance takes; who waits is a person, or the end of a run. */
const PATIENCE_MS = 9_000;

/**
 * One maintenance at a time. It only saves work: each step by itself is safe beside runs and beside another maintenance,
 * so two at once are no harm. A claim like those of results, since it names its holder: one that was killed is in nobody's
 * way, and a slow one keeps its turn.
 */
export async function withMaintenanceLock<T>(
  dir: string,
  clock: Clock,
  work: () => T | Promise<T>,
): Promise<T | { busy: string }> {
  const prepared = prepareFolder(dir);
  if ('failed' in prepared) return { busy: `cannot write to the cache: ${prepared.failed.message}` };
  let holder = 'another process';
  const request = {
    signal: AbortSignal.timeout(PATIENCE_MS),
    onWait: (who: string) => {
      holder = who;
    },
  };
  const acquired = await waitForClaim(join(dir, MAINTENANCE), request, clock);
  if ('aborted' in acquired) return { busy: `${holder} is tidying up the cache` };
  if ('failed' in acquired) return { busy: `cannot write to the cache: ${acquired.failed.message}` };
  try {
    return await work();
  } finally {
    dropClaim(acquired.own);
  }
}
