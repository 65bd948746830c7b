import { type Dirent, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrnoError } from '../../util/atomic-write.js';
import { prefixOf, STATE_DIR } from '../../util/project.js';
import { type FileSink, FoundFiles } from './found-files.js';
import type { GlobPattern } from './glob-pattern.js';

export interface WalkOptions {
  /** Absolute and real. */
  readonly root: string;
  /** See `Project`. */
  readonly prefix?: '';
  /** Further folders to leave out, relative to the root. */
  readonly skip?: readonly string[];
  /** `as they are`: a link is found as a link. Otherwise what is behind it is found. */
  readonly links?: 'as they are';
  /** Leave a match out. */
  readonly excluded?: (path: string) => boolean;
}

/** Left out unless the pattern names them: they change for reasons of their own. */
const LEFT_OUT = ['.git', 'node_modules'];
const STATE_LEFT_OUT = [STATE_DIR, `${STATE_DIR}/cache`, `${STATE_DIR}/runs`];

/**
 * Finds every file that the pattern means. A link to something inside of the project counts as that; one that leaves the
 * project is a failure, since what is behind it can neither be watched nor be left out in silence.
 */
export function walk(pattern: GlobPattern, options: WalkOptions): FoundFiles | { readonly failed: string } {
  const found = new FoundFiles();
  return walkInto(found, pattern, options) ?? found;
}

/** The same, for whoever need not keep all that is found. Undefined when all went well. */
export function walkInto(
  sink: FileSink,
  pattern: GlobPattern,
  options: WalkOptions,
): { readonly failed: string } | undefined {
  try {
    new Walker(sink, pattern, options).start();
    return undefined;
  } catch (error) {
    if (error instanceof WalkFailure) return { failed: error.message };
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { failed: `${relativeTo(options.root, path)} cannot be read (${code})` };
  }
}

const IF_THERE = { throwIfNoEntry: false } as const;

class WalkFailure extends Error {}

class Walker {
  readonly #sink: FileSink;
  readonly #pattern: GlobPattern;
  readonly #options: WalkOptions;
  readonly #prefix: string;
  readonly #skip: ReadonlySet<string>;
  readonly #skipNames: ReadonlySet<string>;
  /** Real folders that the walk is in because of links: a link back to one of them is a circle. */
  readonly #linked: string[] = [];

  constructor(sink: FileSink, pattern: GlobPattern, options: WalkOptions) {
    this.#sink = sink;
    this.#pattern = pattern;
    this.#options = options;
    this.#prefix = prefixOf(options);
    this.#skipNames = new Set(LEFT_OUT.filter((name) => !pattern.names(name)));
    this.#skip = new Set([...STATE_LEFT_OUT, ...(options.skip ?? [])].filter((folder) => !pattern.names(folder)));
  }

  start(): void {
    const { base } = this.#pattern;
    if (base !== '' && !this.#enterable(base)) return;
    const { root } = this.#options;
    if (base !== '' && isLinked(root, base)) this.#checkInside(base, join(root, base));
    this.#folder(base);
  }

  /** The base may itself be (in) a folder that is left out, or not be there at all. */
  #enterable(base: string): boolean {
    const names = base.split('/');
    return names.every((name, i) => !this.#isSkipped(name, names.slice(0, i + 1).join('/')));
  }

  #isSkipped(name: string, path: string): boolean {
    return this.#skipNames.has(name) || this.#skip.has(path);
  }

  #folder(path: string): void {
    const folder = path === '' ? this.#options.root : this.#prefix + path;
    const prefix = path === '' ? this.#prefix : `${folder}/`;
    for (const entry of readFolder(folder)) {
      // A slice of the one text that the system call needs anyway: two texts per file are what a walk is slow with.
      const whole = prefix + entry.name;
      const name = whole.slice(this.#prefix.length);
      if (entry.isDirectory()) {
        if (!this.#isSkipped(entry.name, name) && this.#pattern.mayContain(name)) this.#folder(name);
      } else if (entry.isFile()) {
        if (this.#pattern.matches(name)) this.#file(name, whole);
      } else if (entry.isSymbolicLink()) {
        this.#link(entry, name);
      }
    }
  }

  #file(path: string, whole: string): void {
    if (this.#options.excluded?.(path)) return;
    const stat = statSync(whole, IF_THERE);
    if (stat === undefined) {
      if (path.includes('\ufffd')) throw new WalkFailure(`the name of ${path} is not UTF-8`);
      // It was listed and is gone: removed this moment.
      return;
    }
    this.#sink.file(path, stat);
  }

  #link(entry: Dirent, path: string): void {
    if (this.#isSkipped(entry.name, path)) return;
    const matches = this.#pattern.matches(path);
    const absolute = `${this.#options.root}/${path}`;
    const target = statSync(absolute, IF_THERE);
    if (this.#options.links === 'as they are' && matches && target !== undefined) {
      this.#checkInside(path, absolute);
      if (!this.#options.excluded?.(path)) this.#sink.link(path, readlinkSync(absolute));
    } else if (target?.isDirectory()) {
      if (!this.#pattern.mayContain(path)) return;
      const real = this.#checkInside(path, absolute);
      if (this.#linked.includes(real) || `${absolute}/`.startsWith(`${real}/`)) return;
      this.#linked.push(real);
      this.#folder(path);
      this.#linked.pop();
    } else if (matches && target?.isFile()) {
      this.#checkInside(path, absolute);
      this.#file(path, absolute);
    } else if (matches && target === undefined && !this.#options.excluded?.(path)) {
      this.#sink.link(path, readlinkSync(absolute));
    }
  }

  #checkInside(path: string, absolute: string): string {
    const real = realpathSync(absolute);
    if (isInside(this.#options.root, real)) return real;
    throw new WalkFailure(`${path} is a link that leaves the project`);
  }
}

function readFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    const { code } = error as ErrnoError;
    // Not there is no matches; a file where the pattern wants a folder is the same.
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}

export function isInside(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith('/') ? root : `${root}/`);
}

/** Whether some folder on the way is a link; costs one call. */
function isLinked(root: string, path: string): boolean {
  try {
    return realpathSync(join(root, path)) !== join(root, path);
  } catch {
    // Not there: nothing to follow.
    return false;
  }
}

function relativeTo(root: string, path: string | undefined): string {
  return path?.startsWith(`${root}/`) ? path.slice(root.length + 1) : (path ?? 'a file');
}
