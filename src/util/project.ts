import type { Clock } from './clock.js';

/** Where a run happens. Made once by a surface; nothing below it reads the process's own environment or folder. */
export interface Project {
  /** Absolute, real path of the project root. */
  readonly root: string;
  /** The user's home folder. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** The project's own state: flows, configuration, store, runs. */
export const STATE_DIR = '.pi/taskflows';

/**
 * What was worked out from flows and settings, and is taken at its word. It never leaves this machine, which is why it
 * is not in the cache folder: that one may come from elsewhere, and nothing in it may decide what is executed.
 */
export const DERIVED_DIR = `${STATE_DIR}/checked`;
