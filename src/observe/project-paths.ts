import { readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { lstatIfThere } from '../util/stat.js';

/** Where a path leads. */
interface Real {
  readonly real: string;
  /** Links inside the project on the way to it, itself included where it was followed. */
  readonly links: readonly string[];
}

/** A path of a system call, as seen from the project. */
interface Place extends Real {
  /** Relative to the root, links followed; undefined: outside. */
  readonly path?: string;
}

const TOP: Real = { real: '/', links: [] };
const MOST_LINKS = 40;
/** Limit for remembered folders: more than any real program uses. */
const MOST_KNOWN = 20_000;

/**
 * Follows links the way the kernel did. It looks at the disk a moment after the program, so the caller must report with
 * `changed` what the program moves, removes or links.
 */
export class ProjectPaths {
  /** By the folder's name as a program used it. */
  readonly #folders = new Map<string, Real>();
  /** Absolute paths of these folders and of the links that led there. */
  readonly #leading = new Set<string>();
  readonly #outside = new Map<string, boolean>();
  /** Paths at which there is no link. */
  readonly #plain = new Set<string>();

  /** `root`: absolute and real. */
  constructor(readonly root: string) {}

  /** Where an absolute path leads; `follow`: its last name may be a link, too. */
  placeOf(absolute: string, follow: boolean): Place {
    const { real, links } = this.#fileAt(absolute, follow);
    const path = this.#inside(real);
    return path === undefined ? { real, links } : { real, path, links };
  }

  /** The same for a path that the kernel reported: it holds no links. */
  realPlace(absolute: string): string | undefined {
    return this.#inside(absolute);
  }

  /** Whether a folder, and every link that leads to it, is outside. */
  isOutside(folder: string): boolean {
    const known = this.#outside.get(folder);
    if (known !== undefined) return known;
    const { real, links } = this.#folderAt(folder);
    const isOutside = links.length === 0 && this.#inside(real) === undefined;
    this.#outside.set(folder, isOutside);
    return isOutside;
  }

  /** Something at this path was made, moved or removed by the program. */
  changed(path: string): void {
    this.#plain.delete(`${this.root}/${path}`);
    if (this.#leading.has(`${this.root}/${path}`)) this.#forget();
  }

  #forget(): void {
    this.#folders.clear();
    this.#outside.clear();
    this.#leading.clear();
    this.#plain.clear();
  }

  #inside(real: string): string | undefined {
    if (real === this.root) return '.';
    return real.startsWith(`${this.root}/`) ? real.slice(this.root.length + 1) : undefined;
  }

  #fileAt(absolute: string, follow: boolean): Real {
    const slash = absolute.lastIndexOf('/');
    const name = absolute.slice(slash + 1);
    if (name === '' || name === '.' || name === '..') return this.#folderAt(absolute);
    const folder = this.#folderAt(slash === 0 ? '/' : absolute.slice(0, slash));
    const real = below(folder.real, name);
    const isPlain = !follow || this.#plain.has(real) || this.#inside(real) === undefined;
    if (isPlain) return { real, links: folder.links };
    return this.#followed(real, folder.links);
  }

  /** A link, a link to a link …; what the last one names need not be there. */
  #followed(start: string, before: readonly string[]): Real {
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
      const next = this.#fileAt(target.startsWith('/') ? target : below(dirname(real), target), false);
      real = next.real;
      links = [...links, ...next.links];
    }
    return { real, links };
  }

  #folderAt(folder: string): Real {
    const known = this.#folders.get(folder);
    if (known) return known;
    if (this.#folders.size >= MOST_KNOWN) this.#forget();
    // A link that leads through itself leads nowhere.
    this.#folders.set(folder, { real: folder, links: [] });
    const found = this.#findFolder(folder);
    this.#folders.set(folder, found);
    this.#leading.add(found.real);
    for (const link of found.links) this.#leading.add(`${this.root}/${link}`);
    return found;
  }

  /** Resolves the last name only: the folder above is mostly known. A missing folder is where its name says. */
  #findFolder(folder: string): Real {
    const slash = folder.lastIndexOf('/');
    if (slash < 0 || folder === '/') return TOP;
    const above = this.#folderAt(slash === 0 ? '/' : folder.slice(0, slash));
    const name = folder.slice(slash + 1);
    if (name === '' || name === '.') return above;
    if (name === '..') return { ...above, real: dirname(above.real) };
    return this.#followed(below(above.real, name), above.links);
  }
}

function below(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`;
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
