import type { Clock } from './clock.js';

/** Where a run happens. Made once by a surface; nothing below it reads the process's own environment or folder. */
export interface Project {
  /** Absolute, real path of the project root. */
  readonly root: string;
  /** The user's home folder. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Files that stdout and stderr of this process go to. */
  readonly prints?: readonly { readonly dev: number; readonly ino: number }[];
}

/** Whether this process prints to the file. Such a file is no input: it changes because we run. */
export function isPrintedTo(
  { prints }: Pick<Project, 'prints'>,
  { dev, ino }: { readonly dev: number; readonly ino: number },
): boolean {
  return prints?.some((file) => file.dev === dev && file.ino === ino) === true;
}

/** The project's own state: flows, configuration, store, runs. */
export const STATE_DIR = '.pi/taskflows';
