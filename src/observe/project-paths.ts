import { readlinkSync, realpathSync } from 'node:fs';
import { dirname, normalize, resolve } from 'node:path';
import { lstatIfThere } from '../util/stat.js';

/** A path of a system call, as seen from the project. */
export interface Place {
  readonly real: string;
  /** Relative to the root, links followed; undefined: outside. */
  readonly path?: string;
  /** Links inside the project on the way to it, itself included where it was followed. */
  readonly links: readonly string[];
}

const NO_LINKS: readonly string[] = [];
const MOST_LINKS = 40;
/** Folders that are remembered: more than any real program looks into. */
const MOST_KNOWN = 20_000;

/**
 * Follows links the way the kernel did. It looks at the disk a moment after the program, so whoever moves, removes or
 * links something has to say so (`changed`).
 */
export class ProjectPaths {
  /** Folders as a program named them, and where they are. */
  readonly #folders = new Map<string, { readonly real: string; readonly links: readonly string[] }>();
  /** Of all known folders, and of those above them. */
  readonly #prefixes = new Set<string>();
  /** Paths at which there is no link. */
  readonly #plain = new Set<string>();

  /** `root`: absolute and real. */
  constructor(readonly root: string) {}

  /** Where an absolute path is; `follow`: also if its last name is a link. */
  placeOf(absolute: string, follow: boolean): Place {
    const { real, links } = this.#fileAt(absolute, follow);
    const path = this.#inside(real);
    return path === undefined ? { real, links } : { real, path, links };
  }

  /** The same for a path that the kernel itself named: nothing in it is a link. */
  realPlace(absolute: string): string | undefined {
    return this.#inside(absolute);
  }

  /** Whether a folder, and whatever leads to it, is outside. */
  isOutside(folder: string): boolean {
    const { real, links } = this.#folderAt(folder);
    return links.length === 0 && this.#inside(real) === undefined;
  }

  /** Something at this path was made, moved or removed by the program. */
  changed(path: string): void {
    this.#plain.delete(`${this.root}/${path}`);
    if (!this.#prefixes.has(`${this.root}/${path}`)) return;
    this.#forget();
  }

  #forget(): void {
    this.#folders.clear();
    this.#prefixes.clear();
    this.#plain.clear();
  }

  #inside(real: string): string | undefined {
    if (real === this.root) return '.';
    return real.startsWith(`${this.root}/`) ? real.slice(this.root.length + 1) : undefined;
  }

  #fileAt(absolute: string, follow: boolean): { real: string; links: readonly string[] } {
    const slash = absolute.lastIndexOf('/');
    const name = absolute.slice(slash + 1);
    if (name === '' || name === '.' || name === '..') return this.#folderAt(absolute);
    const folder = this.#folderAt(slash === 0 ? '/' : absolute.slice(0, slash));
    const real = folder.real === '/' ? `/${name}` : `${folder.real}/${name}`;
    const isPlain = !follow || this.#plain.has(real) || this.#inside(real) === undefined;
    if (isPlain) return { real, links: folder.links };
    return this.#followed(real, folder.links);
  }

  /** A link, a link to a link …; what the last one names need not be there. */
  #followed(start: string, before: readonly string[]): { real: string; links: readonly string[] } {
    let real = start;
    let links = before;
    for (let times = 0; times < MOST_LINKS; times += 1) {
      const target = lstatIfThere(real)?.isSymbolicLink() ? readLink(real) : undefined;
      if (target === undefined) {
        if (times === 0) this.#plain.add(start);
        break;
      }
      const link = this.#inside(real);
      if (link !== undefined) links = [...links, link];
      const next = this.#fileAt(resolve(dirname(real), target), false);
      real = next.real;
      links = [...links, ...next.links];
    }
    return { real, links };
  }

  #folderAt(folder: string): { readonly real: string; readonly links: readonly string[] } {
    const known = this.#folders.get(folder);
    if (known) return known;
    if (this.#folders.size >= MOST_KNOWN) this.#forget();
    const real = realFolder(folder);
    const found = { real, links: real === plain(folder) ? NO_LINKS : this.#linksOn(plain(folder)) };
    this.#folders.set(folder, found);
    for (let at = plain(folder); !this.#prefixes.has(at); at = dirname(at)) this.#prefixes.add(at);
    return found;
  }

  /** Found by walking: rare enough. */
  #linksOn(folder: string): string[] {
    const links: string[] = [];
    let at = '';
    for (const name of folder.split('/').slice(1)) {
      const real = `${at === '' ? '' : realFolder(at)}/${name}`;
      at = `${at}/${name}`;
      if (lstatIfThere(real)?.isSymbolicLink()) links.push(...this.#followed(real, []).links);
    }
    return links;
  }
}

function plain(folder: string): string {
  const path = normalize(folder);
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

/** A folder that is not there is where its name says, in the folder above it. */
function realFolder(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    const path = plain(folder);
    const above = dirname(path);
    if (above === path) return path;
    const real = realFolder(above);
    return `${real === '/' ? '' : real}${path.slice(path.lastIndexOf('/'))}`;
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
