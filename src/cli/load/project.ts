import { existsSync, fstatSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../util/clock.js';
import type { Project } from '../../util/project.js';

/**
 * The nearest folder upwards that has `.pi` or `.git`, else the folder itself. The `.pi` in the home folder holds pi's
 * own settings and makes no project of the home folder.
 */
export function findProjectRoot(from: string, home: string): string {
  const start = realpathSync(from);
  const realHome = existsSync(home) ? realpathSync(home) : home;
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (folder !== realHome && existsSync(join(folder, '.pi'))) return folder;
    if (folder === dirname(folder)) return start;
  }
}

export function projectAt(cwd: string): Project {
  const home = process.env['HOME'] || process.getBuiltinModule('node:os').homedir();
  const root = findProjectRoot(cwd, home);
  return {
    root,
    home,
    env: process.env,
    clock: systemClock,
    prefix: isCurrent(root) ? '' : undefined,
    prints: printsTo(),
  };
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

/** Nobody here changes the current folder. */
function isCurrent(folder: string): boolean {
  try {
    return process.cwd() === folder;
  } catch {
    // It was removed; `--cwd` said where to go instead.
    return false;
  }
}
