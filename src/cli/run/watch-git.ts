import { join, resolve } from 'node:path';
import { askGit } from '../../process/git.js';
import { gitIgnored } from '../../process/git-ignored.js';
import type { Project } from '../../util/project.js';

/** Git's state of a watched project; empty where there is no repository. */
export interface GitView {
  /** Absolute; what is below one of them is ignored too. */
  readonly ignored: ReadonlySet<string>;
  /** Files and folders that change when a ref does. */
  readonly refs: readonly string[];
}

export const NO_GIT_VIEW: GitView = { ignored: new Set(), refs: [] };

const FOLDERS = ['rev-parse', '--git-dir', '--git-common-dir'];

export async function gitView({ root, env }: Project): Promise<GitView> {
  const options = { cwd: root, env };
  const [ignored, folders] = await Promise.all([gitIgnored(options), askGit(FOLDERS, options)]);
  if (!ignored || 'failed' in folders) return NO_GIT_VIEW;
  const [own, common] = folders.stdout.split('\n').map((folder) => resolve(root, folder));
  const shared = ['packed-refs', 'refs/heads', 'refs/tags'].map((name) => join(common!, name));
  return {
    ignored: new Set(ignored.map((path) => resolve(root, path))),
    refs: [join(own!, 'HEAD'), ...shared],
  };
}
