import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { type ErrnoError, isTemporary } from '../../util/atomic-write.js';
import { isInside } from '../../util/inside.js';
import { STATE_DIR } from '../../util/project.js';
import { type GlobPattern, LEFT_OUT } from './glob-pattern.js';

const STATE_LEFT_OUT = [STATE_DIR, `${STATE_DIR}/cache`, `${STATE_DIR}/runs`];

const IF_THERE = { throwIfNoEntry: false } as const;

/** Why a glob has no answer: what is found cannot be watched, and must not be left out in silence. */
export class GlobFailure extends Error {
  readonly code = 'GLOB';
}

/**
 * The file system as a glob over the project sees it: what is left out is not there, a folder that is really outside
 * cannot be read, and a circle of links ends. Given to fast-glob, which asks for nothing else.
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
      // Not there is no matches; a file where the pattern wants a folder is the same.
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

  /** Asked only about links. A link to nothing stays a link, and so does one that would go round in a circle. */
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
      // Not the error itself: of one that says "not there", fast-glob would leave out the whole folder.
      throw new GlobFailure(`${relative(this.#root, path)} is a link that cannot be followed (${code})`);
    }
  };

  /** What a link that was found says; undefined for what is no link. */
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
