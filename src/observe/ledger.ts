import type { ListedFolder } from '../model/observation.js';

/** No more paths are remembered: the observation is then not complete. */
const MOST_PATHS = 250_000;
/** Limit for the paths that renamed folders take along, all renames together. */
const MOST_MOVES = 5_000_000;

const READ = 1;
/** Seen to exist, not read. */
const PRESENT = 2;
const ABSENT = 4;
const LISTED = 8;
const WRITTEN = 16;
/** The execution made its content: later reads are not inputs. */
const OWN = 32;
/** It did not exist before. */
const MADE = 64;
const FOLDER = 128;
const LINK = 256;

/** What became of each path of the project, in the order of the calls. The first access decides. */
export class AccessLedger {
  readonly #paths = new Map<string, number>();
  /** Folders whose whole content was made, moved or removed by the execution. */
  readonly #ownFolders = new Set<string>();
  #moves = 0;
  #isFull = false;

  /** It could not record everything. */
  get isFull(): boolean {
    return this.#isFull;
  }

  read(path: string): void {
    this.#look(path, READ);
  }

  /** The link itself, not what it leads to. */
  readLink(path: string): void {
    this.#look(path, READ | LINK);
  }

  present(path: string): void {
    this.#look(path, PRESENT);
  }

  presentFolder(path: string): void {
    this.#look(path, PRESENT | FOLDER);
  }

  list(path: string): void {
    this.#look(path, LISTED | FOLDER);
  }

  /** Ignored where the execution itself has removed the path. */
  absent(path: string): void {
    if (((this.#paths.get(path) ?? 0) & WRITTEN) === 0) this.#look(path, ABSENT);
  }

  /** From now on the content is the execution's own. `made`: the path did not exist before. */
  make(path: string, made: boolean): void {
    const before = this.#paths.get(path) ?? 0;
    const wasThere = (before & (READ | PRESENT)) !== 0 || ((before & WRITTEN) !== 0 && (before & MADE) === 0);
    const isNew = !wasThere && (made || (before & (ABSENT | MADE)) !== 0);
    this.#add(path, WRITTEN | OWN | (isNew ? MADE : 0));
  }

  makeFolder(path: string): void {
    this.make(path, true);
    this.#add(path, FOLDER);
    this.#ownFolders.add(path);
  }

  /** Changed in place: the earlier content is an input. */
  change(path: string): void {
    this.read(path);
    this.#add(path, WRITTEN);
  }

  /** Mode or owner was changed. */
  mark(path: string): void {
    this.#add(path, WRITTEN);
  }

  remove(path: string): void {
    this.#add(path, WRITTEN);
    this.#ownFolders.delete(path);
  }

  /** Moves the record of `from` to `to`, and of a folder everything below it. */
  move(from: string, to: string, isFolder: boolean): void {
    const wasOwn = this.#isOwn(from);
    const wasMade = ((this.#paths.get(from) ?? 0) & MADE) !== 0;
    if (isFolder) this.#moveBelow(from, to);
    else if (!wasOwn) this.read(from);
    this.remove(from);
    if (isFolder) this.makeFolder(to);
    else this.make(to, false);
    if (!wasMade && isFolder) this.#add(from, FOLDER);
  }

  #moveBelow(from: string, to: string): void {
    this.#moves += this.#paths.size;
    if (this.#moves > MOST_MOVES) {
      this.#isFull = true;
      return;
    }
    for (const [path, flags] of [...this.#paths]) {
      if (!path.startsWith(`${from}/`) || (flags & OWN) === 0) continue;
      if ((flags & MADE) !== 0) this.#paths.delete(path);
      this.#add(`${to}${path.slice(from.length)}`, flags & (WRITTEN | OWN | MADE | FOLDER));
    }
    for (const folder of [...this.#ownFolders]) {
      if (!folder.startsWith(`${from}/`)) continue;
      this.#ownFolders.delete(folder);
      this.#ownFolders.add(`${to}${folder.slice(from.length)}`);
    }
  }

  #look(path: string, flags: number): void {
    if (!this.#isOwn(path)) this.#add(path, flags);
  }

  #isOwn(path: string): boolean {
    if (((this.#paths.get(path) ?? 0) & OWN) !== 0) return true;
    if (this.#ownFolders.size === 0) return false;
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (this.#ownFolders.has(path.slice(0, end))) return true;
    }
    return false;
  }

  #add(path: string, flags: number): void {
    const before = this.#paths.get(path);
    if (before === undefined && this.#paths.size >= MOST_PATHS) this.#isFull = true;
    else this.#paths.set(path, (before ?? 0) | flags);
  }

  /** `there`: what is at a path now. */
  results(there: (path: string) => There): Looked {
    const found = { reads: [] as string[], absent: [] as string[], writes: [] as string[], present: new Set<string>() };
    const own = new Map<string, string[]>();
    for (const [path, flags] of this.#paths) {
      if ((flags & LISTED) !== 0) own.set(path, []);
    }
    for (const [path, flags] of this.#paths) {
      const now = (flags & READ) !== 0 || (flags & WRITTEN) !== 0 ? there(path) : undefined;
      const isFolder = (flags & FOLDER) !== 0 || now === 'folder';
      if ((flags & READ) !== 0 && !isFolder && now !== 'other') found.reads.push(path);
      else if ((flags & (READ | PRESENT)) !== 0) found.present.add(path);
      if ((flags & ABSENT) !== 0 && (flags & (OWN | READ | PRESENT)) === 0) found.absent.push(path);
      if ((flags & WRITTEN) !== 0 && isWrite(flags, now)) found.writes.push(path);
      if ((flags & OWN) !== 0) own.get(parentOf(path))?.push(path.slice(path.lastIndexOf('/') + 1));
    }
    const lists = [...own].map(([path, names]) => ({ path, own: names.sort() })).sort(byPath);
    return { ...found, present: bareFolders(found, lists), lists };
  }
}

/** What is at a path in the end. */
export type There = 'file' | 'folder' | 'link' | 'other' | undefined;

interface Looked {
  readonly reads: string[];
  readonly lists: ListedFolder[];
  readonly absent: string[];
  readonly present: string[];
  readonly writes: string[];
}

/** A file that was made and removed is not a write; a folder that was made counts by its content. */
function isWrite(flags: number, now: string | undefined): boolean {
  if (now === undefined) return (flags & MADE) === 0;
  return now !== 'folder';
}

/** Folders that were seen but nothing in them: the others are implied by their content. */
function bareFolders(
  { reads, present }: { readonly reads: readonly string[]; readonly present: Set<string> },
  lists: readonly ListedFolder[],
): string[] {
  if (present.size === 0) return [];
  const implied = new Set<string>(['.', ...reads, ...lists.map(({ path }) => path)]);
  for (const path of [...implied, ...present]) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const above = path.slice(0, end);
      if (implied.has(above)) break;
      implied.add(above);
    }
  }
  return [...present].filter((path) => !implied.has(path)).sort();
}

function byPath(a: ListedFolder, b: ListedFolder): number {
  return a.path < b.path ? -1 : 1;
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '.' : path.slice(0, slash);
}
