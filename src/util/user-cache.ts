import { join } from 'node:path';

/**
 * The user's own folder for what can be worked out again (XDG). Nothing in it travels with a project, so what lies here
 * may be believed where a file of the project may not.
 */
export function userCacheDir(env: Readonly<Record<string, string | undefined>>, home: string): string {
  const named = env['XDG_CACHE_HOME'];
  // The XDG specification: a relative path is to be ignored.
  return join(named?.startsWith('/') ? named : join(home, '.cache'), 'taskflow');
}
