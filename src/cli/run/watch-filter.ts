import { basename, dirname, join } from 'node:path';
import { LEFT_OUT } from '../../memo/files/glob-pattern.js';
import { selectPaths } from '../../memo/files/select-paths.js';
import { isTemporary } from '../../util/atomic-write.js';
import { isInside, relativePath } from '../../util/inside.js';
import { type Project, STATE_DIR } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import { userCacheDir } from '../../util/user-cache.js';
import { type GitView, gitView } from './watch-git.js';
import type { WatchedPaths } from './watch-paths.js';

/** Decides which folders are worth a watch, and which changes count. */
export class WatchFilter {
  /** Folders on the way to something that is watched. */
  readonly #ways = new Set<string>();
  readonly #bases: readonly { readonly folder: string; readonly pattern: string }[];
  /** What taskflow itself writes. */
  readonly #state: readonly string[];
  readonly #trees: readonly string[];

  constructor(
    private readonly project: Project,
    private readonly paths: WatchedPaths,
    private git: GitView,
  ) {
    const { root } = project;
    this.#trees = paths.refs ? git.refs : [];
    this.#bases = [...paths.globs].map((pattern) => ({ folder: join(root, baseOf(pattern)), pattern }));
    const own = ['cache', 'runs', 'checked'].map((name) => join(root, STATE_DIR, name));
    this.#state = [...own, userCacheDir(project.env, project.home)];
    for (const path of this.#targets()) {
      for (let way = dirname(path); !this.#ways.has(way); way = dirname(way)) this.#ways.add(way);
    }
  }

  /**
   * Where the watches begin: at the project, so that a folder inside may be removed, and at the nearest folders
   * elsewhere.
   */
  roots(): string[] {
    const { root } = this.project;
    const outside = [...this.#targets()].filter((path) => !isInside(root, path));
    const folders = new Set([root, ...outside.map((path) => nearestFolder(dirname(path)))]);
    return [...folders].filter((path) => ![...folders].some((other) => other !== path && isInside(other, path)));
  }

  /** May something below this path, or the path itself, count? */
  mayCount(path: string): boolean {
    const { files, folders } = this.paths;
    if (isTemporary(basename(path))) return false;
    if (this.#ways.has(path) || files.has(path) || folders.has(path) || folders.has(dirname(path))) return true;
    if (this.#trees.some((tree) => isInside(tree, path))) return true;
    if (!isInside(this.project.root, path) || this.#state.some((folder) => isInside(folder, path))) return false;
    return path === this.project.root || this.#inTree(path) || this.#bases.some((base) => isBelow(base, path));
  }

  /** Those that count. */
  async select(paths: readonly string[]): Promise<string[]> {
    const { files, folders, globs } = this.paths;
    const { root } = this.project;
    // Asked again, because an ignored file may be new.
    if (this.paths.worktree) this.git = await gitView(this.project);
    const likely = paths.filter((path) => this.mayCount(path));
    const named = (path: string) =>
      files.has(path) || folders.has(dirname(path)) || this.#trees.some((tree) => isInside(tree, path));
    const others = likely.filter((path) => isInside(root, path) && !this.#isState(path));
    const matched = await selectPaths(
      others.map((path) => relativePath(root, path)),
      [...globs],
    );
    return likely.filter(
      (path) => named(path) || matched.has(relativePath(root, path)) || (this.#inTree(path) && !this.#isState(path)),
    );
  }

  #targets(): Set<string> {
    const { files, folders } = this.paths;
    // A file in a folder that is not there yet: the watch begins above it.
    const inside = [...folders, ...this.#trees].map((folder) => join(folder, 'x'));
    return new Set([...files, ...inside, ...this.#trees, ...this.#bases.map(({ folder }) => join(folder, 'x'))]);
  }

  #isState(path: string): boolean {
    return isInside(join(this.project.root, STATE_DIR), path);
  }

  #inTree(path: string): boolean {
    const { root } = this.project;
    if (!this.paths.worktree || !isInside(root, path)) return false;
    for (let at = path; at !== root && at !== dirname(at); at = dirname(at)) {
      if (this.git.ignored.has(at) || basename(at) === '.git') return false;
    }
    return true;
  }
}

/** The folder above the first wildcard. */
function baseOf(pattern: string): string {
  const names = pattern.split('/');
  const wild = names.findIndex((name) => /[*?[\]{}()!+@\\]/.test(name));
  return wild === -1 ? pattern : names.slice(0, wild).join('/');
}

function isBelow({ folder, pattern }: { folder: string; pattern: string }, path: string): boolean {
  if (!isInside(folder, path)) return false;
  const names = relativePath(folder, path).split('/');
  return !LEFT_OUT.some((name) => names.includes(name) && !pattern.includes(name));
}

function nearestFolder(path: string): string {
  let folder = path;
  while (!statIfThere(folder)?.isDirectory() && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}
