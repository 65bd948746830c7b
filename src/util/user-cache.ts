import { join } from 'node:path';
import { sha256Hex } from './digest.js';
import type { Project } from './project.js';

/**
 * The user's own folder for what can be derived again (XDG). Nothing in it comes with a project, so it may be trusted
 * where a file of the project may not.
 */
export function userCacheDir(env: Readonly<Record<string, string | undefined>>, home: string): string {
  const named = env['XDG_CACHE_HOME'];
  // The XDG specification: a relative path is to be ignored.
  return join(named?.startsWith('/') ? named : join(home, '.cache'), 'taskflow');
}

/** The part of a project that finds its folder of derived files. */
export type ProjectPlace = Pick<Project, 'root' | 'home' | 'env'>;

/**
 * The folder for what was derived from a project's files: kept checks, file stats. It decides what is executed, so it
 * is never inside the project, which comes from other people.
 */
export function derivedDir({ root, home, env }: ProjectPlace): string {
  return join(userCacheDir(env, home), 'projects', sha256Hex(root).slice(0, 32));
}
