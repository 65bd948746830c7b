import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { type ErrnoError, isTemporary } from '../../util/atomic-write.js';
import { isInside } from '../../util/inside.js';
import { STATE_DIR } from '../../util/project.js';
import { type GlobPattern, LEFT_OUT } from './glob-pattern.js';

const STATE_LEFT_OUT = [STATE_DIR, `${STATE_DIR}/cache`, `${STATE_DIR}/runs`];

const IF_THERE = { throwIfNoEntry: false } as const;

/** Why a glob fails: something that it matches cannot be read, and must not be left out in silence. */
export class GlobFailure extends Error {
  readonly code = 'GLOB';
}

/**
 * The file system that fast-glob gets for a glob over the project: it hides what is left out, refuses folders that are
 * really outside, and ends a circle of links.
 */
export class ProjectView {
  /** Links that lead somewhere: absolute path to real path. */
  readonly #links = new Map<string, string>();
  readonly #circles = new Set<string>();
  readonly #root: string;
  readonly #leftOut: ReadonlySet<string>;
  readonly #leftOutNames: ReadonlySet<string>;

  constructor(root: string, pattern: GlobPattern, leftOut: readonly string[] = []) {
    this.#root = root;
    this.#leftOutNames = new Set(LEFT_OUT.filter((name) => !pattern.names(name)));
    this.#leftOut = new Set([...STATE_LEFT_OUT, ...leftOut].filter((folder) => !pattern.names(folder)));
  }

  readonly readdirSync = (folder: string): Dirent[] => {
    let entries: Dirent[];
    try {
      this.#checkInside(folder);
      entries = readdirSync(folder, { withFileTypes: true });
    } catch (error) {
      const { code } = error as ErrnoError;
      // No matches: the folder does not exist, or is a file.
      if (code === 'ENOENT' || code === 'ENOTDIR') return [];
      throw error;
    }
    const prefix = folder === this.#root ? '' : `${relative(this.#root, folder)}/`;
    const isLeftOut = (name: string) =>
      this.#leftOutNames.has(name) || this.#leftOut.has(prefix + name) || isTemporary(name);
    return entries.filter(({ name }) => !isLeftOut(name));
  };

  readonly lstatSync = (path: string): Stats => {
    this.#checkInside(dirname(path));
    return lstatSync(path);
  };

  /** Called only for links. A link to nothing, or into a circle, stays a link. */
  readonly statSync = (path: string): Stats => {
    try {
      const target = statSync(path, IF_THERE);
      if (target === undefined) return lstatSync(path);
      const real = realpathSync.native(path);
      if (target.isDirectory() && this.#isCircle(path, real)) {
        this.#circles.add(path);
        return lstatSync(path);
      }
      this.#links.set(path, real);
      return target;
    } catch (error) {
      const { code } = error as ErrnoError;
      if (code === 'ELOOP') return lstatSync(path);
      // Not the error itself: at one that means "not there", fast-glob would leave out the whole folder.
      throw new GlobFailure(`${relative(this.#root, path)} is a link that cannot be followed (${code})`);
    }
  };

  /** The target text of a link; undefined for anything else. */
  linkAt(path: string): string | undefined {
    if (!this.#links.has(path) && !this.#circles.has(path)) return undefined;
    this.#checkInside(path);
    return readlinkSync(path);
  }

  isCircle(path: string): boolean {
    return this.#circles.has(path);
  }

  /** Whether the walk is already in the folder that the link leads to. */
  #isCircle(path: string, real: string): boolean {
    if (isInside(real, path)) return true;
    for (let folder = dirname(path); folder.length > this.#root.length; folder = dirname(folder)) {
      if (this.#links.get(folder) === real) return true;
    }
    return false;
  }

  #checkInside(path: string): void {
    const fromRoot = relative(this.#root, path);
    if (!isInside(this.#root, path)) throw new GlobFailure(`${fromRoot} leaves the project`);
    if (isInside(this.#root, realpathSync.native(path))) return;
    throw new GlobFailure(`${fromRoot} is a link that leaves the project`);
  }
}
