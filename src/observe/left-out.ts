import { STATE_DIR } from '../util/project.js';

/** These hold what tools keep: their changes say nothing about the project. */
const FOLDERS = /(?:^|\/)(?:\.git|node_modules)(?:\/|$)/;
const STATE = new RegExp(`^${STATE_DIR.replaceAll('.', '\\.')}/(?:cache|runs)(?:/|$)`);

/** Whether a path of the project counts only where a setting includes it. */
export function isLeftOut(path: string): boolean {
  return FOLDERS.test(path) || STATE.test(path);
}
