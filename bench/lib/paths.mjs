import { fileURLToPath } from 'node:url';

/** The repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What outlives a run of the bench: installed peers and their home folder. Git ignores all that the bench makes. */
export const KEPT = fileURLToPath(new URL('../.work', import.meta.url));
/** Workspaces and a copy of the build: this process's own, so that two benches do not meet. */
export const WORK = `${KEPT}/run-${process.pid}`;
export const FLOOR = fileURLToPath(new URL('../floor', import.meta.url));
