import { fstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { findProjectRoot, namedRoot } from '../../config/project-root.js';
import type { RefusedProject } from '../../config/safe-projects.js';
import { systemClock } from '../../util/clock.js';
import type { Project } from '../../util/project.js';

/** The project of a folder, or the one that `--root` names; or why its settings are not trusted. */
export async function projectAt(cwd: string, root?: string): Promise<Project | { readonly refused: RefusedProject }> {
  const who = userOf();
  const found = root === undefined ? await findProjectRoot(cwd, who) : await namedRoot(root, who);
  if ('refused' in found) return found;
  return { root: found.root, ...who, clock: systemClock, prints: printsTo() };
}

/** For commands that concern the user and no project. */
export function withoutProject(): Project {
  const who = userOf();
  return { root: who.home, ...who, clock: systemClock };
}

function userOf(): Pick<Project, 'home' | 'env'> {
  return { home: process.env['HOME'] || homedir(), env: process.env };
}

function printsTo(): Project['prints'] {
  return [1, 2].flatMap((fd) => {
    try {
      const stats = fstatSync(fd);
      return stats.isFile() ? [{ dev: stats.dev, ino: stats.ino }] : [];
    } catch {
      // Closed.
      return [];
    }
  });
}
