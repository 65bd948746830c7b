import { join } from 'node:path';
import { statIfThere } from '../util/stat.js';
import { isLogLong, type LogOptions } from './index-log.js';
import { withMaintenanceLock } from './maintenance-lock.js';
import { Pace } from './pace.js';
import { INDEX, INDEX_LOG } from './paths.js';
import { takeLog, withIndex } from './store-index.js';

/** An index this small is written after each run that puts something: a few milliseconds. */
const SMALL_INDEX = 256 * 1024;

/** Whether it pays to fold the log into the index: cheap, or put off until the log is as large as the index. */
export function isCompactionDue({ dir }: LogOptions, hasAdded: boolean): boolean {
  if (!hasAdded) return isLogLong(dir);
  const log = statIfThere(join(dir, INDEX_LOG))?.size ?? 0;
  const index = statIfThere(join(dir, INDEX))?.size ?? 0;
  return log > 0 && (index + log < SMALL_INDEX || log > index);
}

/** Does not wait for the lock: its holder writes the index, too. */
export async function compactIndex(options: LogOptions): Promise<void> {
  const pace = new Pace();
  const compact = () => {
    takeLog(options.dir);
    return withIndex(options, pace, (index) => index.write(pace));
  };
  await withMaintenanceLock(options.dir, compact, 0);
}
