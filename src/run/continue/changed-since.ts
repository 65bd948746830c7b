import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Project, STATE_DIR } from '../../util/project.js';

const LEFT_OUT = new Set(['.git', 'node_modules']);

/**
 * Whether any file or folder of the project is not older than a moment, the given files left out. Asked only when a run
 * continues by itself and a script declares nothing: then nobody knows which files it reads.
 */
export function changedSince(project: Project, moment: number, except: readonly string[]): boolean {
  const ignored = new Set(except.map((path) => join(project.root, path)));
  // Editors replace a file by a new one: the folder of the flow is newer then, and that means nothing.
  const folders = new Set(except.map((path) => join(project.root, path, '..')));
  const visit = (folder: string): boolean => {
    let entries: import('node:fs').Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      // Unreadable, or gone while we look: something happened.
      return true;
    }
    return entries.some((entry) => {
      const path = join(folder, entry.name);
      if (LEFT_OUT.has(entry.name) || ignored.has(path) || path === join(project.root, STATE_DIR)) return false;
      if (entry.isDirectory()) return (!folders.has(path) && newer(path, moment)) || visit(path);
      return newer(path, moment);
    });
  };
  return (!folders.has(project.root) && newer(project.root, moment)) || visit(project.root);
}

function newer(path: string, moment: number): boolean {
  try {
    return lstatSync(path).ctimeMs >= moment;
  } catch {
    // Gone while we look.
    return true;
  }
}
