import type { Clock } from './clock.js';

/** Where a run happens. Made once by a surface; nothing below it reads the process's own environment or folder. */
export interface Project {
  /** Absolute, real path of the project root. */
  readonly root: string;
  /** The user's home folder. */
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /**
   * What stands before a path from the root when the system is asked for it: nothing, in a process that is in that folder
   * and stays there, where each look at a file is a fifth quicker. Else the root itself.
   */
  readonly prefix?: '';
  /** Files that stdout and stderr of this process go to. */
  readonly prints?: readonly { readonly dev: number; readonly ino: number }[];
}

export function prefixOf({ root, prefix }: Pick<Project, 'root' | 'prefix'>): string {
  return prefix ?? `${root}/`;
}

/** An absolute path in the shortest form that means the same, for those who ask for thousands. */
export function shortPath(project: Pick<Project, 'root' | 'prefix'>, absolute: string): string {
  const { root } = project;
  return absolute.startsWith(`${root}/`) ? prefixOf(project) + absolute.slice(root.length + 1) : absolute;
}

/** The project's own state: flows, configuration, store, runs. */
export const STATE_DIR = '.pi/taskflows';
