import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What outlives a run of the bench: installed peers. Git ignores all that the bench makes. */
export const KEPT = fileURLToPath(new URL('../.work', import.meta.url));
/** Workspaces and a copy of the build: this process's own, so that two benches do not meet. */
export const WORK = `${KEPT}/run-${process.pid}`;
/** A home folder outside of the repository: code and checks that come with a project are not believed. */
export const HOME = join(tmpdir(), `taskflow-bench-home-${process.pid}`);
export const FLOOR = fileURLToPath(new URL('../floor', import.meta.url));
