import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Project } from '../util/project.js';
import { distrustOf, MARKERS, openness, openToAll } from './ownership.js';
import type { RefusedProject } from './safe-projects.js';

type FoundRoot = { readonly root: string } | { readonly refused: RefusedProject };

type Who = Pick<Project, 'home' | 'env'>;

/**
 * The nearest folder upwards that has `.pi` or `.git`, else the folder itself. The `.pi` in the home folder holds pi's
 * own settings and does not make it a project. A project of another user is refused.
 */
export async function findProjectRoot(from: string, who: Who): Promise<FoundRoot> {
  const start = realpathSync(from);
  const home = existsSync(who.home) ? realpathSync(who.home) : who.home;
  for (let folder = start; ; folder = dirname(folder)) {
    const marked = MARKERS.some((name) => (name !== '.pi' || folder !== home) && existsSync(join(folder, name)));
    if (!marked && folder === dirname(folder)) return { root: start };
    if (!marked) continue;
    const open = folder === start ? 'private' : openness(folder);
    // Any user may have put the marker into a folder such as /tmp.
    if (open === 'shared') return { root: start };
    return trustedRoot(folder, open === 'open' ? openToAll(folder) : undefined, who);
  }
}

/** A folder that was named as the project. */
export function namedRoot(folder: string, who: Who): Promise<FoundRoot> {
  return trustedRoot(realpathSync(folder), undefined, who);
}

async function trustedRoot(root: string, known: string | undefined, who: Who): Promise<FoundRoot> {
  const why = known ?? distrustOf(root, who.env);
  if (why === undefined) return { root };
  const { refusedUnlessSafe } = await import('./safe-projects.js');
  const refused = await refusedUnlessSafe(root, why, who);
  return refused ? { refused } : { root };
}
