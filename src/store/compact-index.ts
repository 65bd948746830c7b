import { isLogLong, type LogOptions } from './index-log.js';
import { withMaintenanceLock } from './maintenance-lock.js';
import { Pace } from './pace.js';
import { takeLog, withIndex } from './store-index.js';

/** A log this small is read as quickly as an index: no run pays for folding it. */
const SMALL_LOG = 512 * 1024;

/** Whether it pays to fold the log into the index: put off until the log is as large as half of the index. */
export function isCompactionDue({ dir }: LogOptions, hasAdded: boolean): boolean {
  return isLogLong(dir, hasAdded ? SMALL_LOG : undefined);
}

/** Does not wait: the holder of the lock writes the index as well. */
export async function compactIndex(options: LogOptions): Promise<void> {
  const pace = new Pace();
  const compact = () => {
    takeLog(options.dir);
    return withIndex(options, pace, (index) => index.write(pace));
  };
  await withMaintenanceLock(options.dir, compact, 0);
}
