import { fileURLToPath } from 'node:url';

/** The repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Everything that the bench makes: peers, workspaces, a copy of the build. Git-ignored. */
export const WORK = fileURLToPath(new URL('../.work', import.meta.url));
export const FLOOR = fileURLToPath(new URL('../floor', import.meta.url));
