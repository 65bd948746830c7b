import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInside, relativePath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';

/** What a job of GitHub Actions offers to its programs. */
export interface ActionsJob {
  /** The file's path in the checkout; undefined for a file outside of it. */
  fileName(path: string): string | undefined;
  /** Adds to the page of the job. Returns what went wrong. */
  addSummary(markdown: string): string | undefined;
}

export function actionsJob({ env, root }: Pick<Project, 'env' | 'root'>): ActionsJob | undefined {
  if (env['GITHUB_ACTIONS'] !== 'true') return undefined;
  const workspace = env['GITHUB_WORKSPACE'] || root;
  return {
    fileName(path) {
      const absolute = join(root, path);
      if (path.startsWith('/')) return isInside(workspace, path) ? relativePath(workspace, path) : undefined;
      return isInside(workspace, absolute) ? relativePath(workspace, absolute) : path;
    },
    addSummary(markdown) {
      const file = env['GITHUB_STEP_SUMMARY'];
      if (!file) return undefined;
      try {
        appendFileSync(file, markdown);
        return undefined;
      } catch (error) {
        return `the job summary cannot be written: ${(error as Error).message}`;
      }
    },
  };
}
