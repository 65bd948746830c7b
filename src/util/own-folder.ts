import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomic } from './atomic-write.js';
import { textIfThere } from './if-there.js';
import { isInside, realPath } from './inside.js';
import { statIfThere } from './stat.js';
import { derivedDir, type ProjectPlace } from './user-cache.js';

/** Holds the project's path, to see when the project is gone. */
const ROOT_FILE = 'root';

/** Whether only the user can have written into the project's folder of derived files. */
export function isOwnFolder(project: ProjectPlace): boolean {
  const dir = derivedDir(project);
  // A cache folder inside the project could come with a clone or an archive.
  if (isInside(project.root, realPath(dir))) return false;
  const user = process.geteuid?.();
  // Checks `taskflow`, `projects` and the project's own: a user who can write one of them can replace the next.
  return [dirname(dirname(dir)), dirname(dir), dir].every((folder) => {
    const stat = statIfThere(folder);
    if (!stat?.isDirectory()) return false;
    return user === undefined || (stat.uid === user && (stat.mode & 0o022) === 0);
  });
}

/** Makes the folder. False where that is not possible, or would be in another user's folder. */
export function makeOwnFolder(project: ProjectPlace): boolean {
  const dir = derivedDir(project);
  if (isInSomebodysFolder(dir) || isInside(project.root, realPath(dir))) return false;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch {
    // No home, a full or a read-only disk: nothing is kept.
    return false;
  }
  if (!isOwnFolder(project)) return false;
  writeFileAtomic(join(dir, ROOT_FILE), project.root);
  forgetGone(dirname(dir));
  return true;
}

/** Whether this is root in the home of a user, who could not change folders that root makes there. */
export function isInSomebodysFolder(dir: string): boolean {
  if (process.geteuid?.() !== 0) return false;
  let above = dirname(dir);
  while (statIfThere(above) === undefined && above !== dirname(above)) above = dirname(above);
  return statIfThere(above)?.uid !== 0;
}

/** Removes the folders of projects that no longer exist. */
function forgetGone(projects: string): void {
  try {
    for (const name of readdirSync(projects)) {
      const root = textIfThere(join(projects, name, ROOT_FILE));
      if (root !== undefined && statIfThere(root) === undefined) {
        rmSync(join(projects, name), { recursive: true, force: true });
      }
    }
  } catch {
    // Another process cleans up at the same time.
  }
}
