import { readdirSync, readlinkSync, type Stats } from 'node:fs';
import type { ListedFolder, PathSet } from '../../model/observation.js';
import { sha256Hex } from '../../util/digest.js';
import { digestFile, digestSmallFile } from '../../util/digest-file.js';
import type { Project } from '../../util/project.js';
import { lstatIfThere, statIfThere } from '../../util/stat.js';
import type { KnownStats } from '../files/known-stats.js';
import { countsInListing } from './left-out.js';

/** What is at the paths of a set now. */
export interface LookedAt {
  /** Digests of `reads`, then of `lists`. */
  readonly digests: readonly string[];
  /** Paths of `absent` that are there now. */
  readonly appeared: readonly string[];
  /** Paths of `present` that are not there any more. */
  readonly gone: readonly string[];
}

/** Stand for a path without file content; none of these is the digest of a file. */
const NOTHING = sha256Hex('taskflow: nothing is there');
const FOLDER = sha256Hex('taskflow: a folder');
const SPECIAL = sha256Hex('taskflow: neither a file nor a folder');
const UNREADABLE = sha256Hex('taskflow: cannot be read');

/** Larger files are digested in pieces, so that other work gets its turn. */
const AT_ONCE = 65_536;

interface ObservedOptions {
  readonly project: Pick<Project, 'root' | 'clock'>;
  readonly stats: KnownStats;
  /** How often something was executed or restored. */
  readonly touches: () => number;
}

/** Digests the present state of observed paths: at the cost of one stat where the content is known. */
export class ObservedFiles {
  /** Cached until something is executed: phases look at the same files. */
  readonly #found = new Map<string, string>();
  #touches = -1;

  constructor(private readonly options: ObservedOptions) {}

  /** A promise only where a large file has to be read. */
  look({ reads, lists, absent, present }: PathSet): LookedAt | Promise<LookedAt> {
    this.#forgetOld();
    const isThere = (path: string) => lstatIfThere(this.#absolute(path)) !== undefined;
    const appeared = absent.filter(isThere);
    const gone = present.filter((path) => !isThere(path));
    const digests: string[] = [];
    const pending: Promise<void>[] = [];
    for (const path of reads) {
      const digest = this.#found.get(path) ?? this.#file(path);
      const at = digests.push(typeof digest === 'string' ? digest : '') - 1;
      if (typeof digest !== 'string') pending.push(digest.then((late) => void digests.splice(at, 1, late)));
    }
    for (const folder of lists) digests.push(this.#found.get(nameOf(folder)) ?? this.#folder(folder));
    const looked = { digests, appeared, gone };
    return pending.length === 0 ? looked : Promise.all(pending).then(() => looked);
  }

  #forgetOld(): void {
    const touches = this.options.touches();
    if (touches === this.#touches) return;
    this.#touches = touches;
    this.#found.clear();
  }

  #absolute(path: string): string {
    return `${this.options.project.root}/${path}`;
  }

  #file(path: string): string | Promise<string> {
    const absolute = this.#absolute(path);
    const stat = lstatIfThere(absolute);
    if (stat?.isFile()) {
      const known = this.options.stats.find(path, stat);
      if (known === undefined) return this.#read(path, absolute, stat);
      return this.#keep(path, known);
    }
    return this.#keep(path, kindDigest(absolute, stat));
  }

  #read(path: string, absolute: string, stat: Stats): string | Promise<string> {
    const { project, stats } = this.options;
    const readAt = project.clock.now();
    const keep = (digest: string) => {
      stats.add(path, stat, { digest, readAt });
      return this.#keep(path, digest);
    };
    try {
      if (stat.size < AT_ONCE) return keep(digestSmallFile(absolute));
    } catch {
      return this.#keep(path, UNREADABLE);
    }
    return digestFile(absolute, stat.size).then(keep, () => this.#keep(path, UNREADABLE));
  }

  #folder(folder: ListedFolder): string {
    const name = nameOf(folder);
    const absolute = this.#absolute(folder.path);
    const stat = statIfThere(absolute);
    if (!stat?.isDirectory()) return this.#keep(name, stat ? SPECIAL : NOTHING);
    const { project, stats } = this.options;
    const known = stats.find(name, stat);
    if (known !== undefined) return this.#keep(name, known);
    const readAt = project.clock.now();
    const names = namesIn(absolute, folder);
    if (names === undefined) return UNREADABLE;
    const digest = sha256Hex(names.join('\0'));
    stats.add(name, stat, { digest, readAt });
    return this.#keep(name, digest);
  }

  #keep(name: string, digest: string): string {
    this.#found.set(name, digest);
    return digest;
  }
}

/** Names in a folder that count, sorted; undefined when it cannot be read. */
export function namesIn(absolute: string, { path, own }: ListedFolder): readonly string[] | undefined {
  const isOwn = new Set(own);
  try {
    return readdirSync(absolute)
      .filter((name) => !isOwn.has(name) && countsInListing(path, name))
      .sort();
  } catch {
    // Gone, or not readable.
    return undefined;
  }
}

/** The name of a listing in the table: no path of a file ends like this. */
function nameOf({ path, own }: ListedFolder): string {
  return own.length === 0 ? `${path}/` : `${path}/${JSON.stringify(own)}/`;
}

function kindDigest(absolute: string, stat: Stats | undefined): string {
  if (stat === undefined) return NOTHING;
  if (stat.isDirectory()) return FOLDER;
  return stat.isSymbolicLink() ? linkDigest(absolute) : SPECIAL;
}

/** Digest of the link's text and of its target's content. */
function linkDigest(absolute: string): string {
  try {
    const target = statIfThere(absolute);
    const behind = target?.isFile() ? digestSmallFile(absolute) : target?.isDirectory() ? FOLDER : NOTHING;
    return sha256Hex(`link to ${readlinkSync(absolute)}\0${behind}`);
  } catch {
    return UNREADABLE;
  }
}

/** The state of a set as one digest; undefined where a path appeared or vanished: that state has no result. */
export function stateOf(
  { complete, reads, lists, absent, present }: PathSet,
  { digests, appeared, gone }: LookedAt,
): string | undefined {
  if (appeared.length > 0 || gone.length > 0) return undefined;
  // No path holds a NUL, and all digests have one length: no two states are written alike.
  const lines = [complete ? 'complete\n' : 'seen\n'];
  let at = 0;
  for (const path of reads) lines.push(`r${path}\0${digests[at++]}\n`);
  for (const { path } of lists) lines.push(`l${path}\0${digests[at++]}\n`);
  for (const path of absent) lines.push(`a${path}\0\n`);
  for (const path of present) lines.push(`p${path}\0\n`);
  return sha256Hex(lines.join(''));
}

const MARK = 16;

export function marksOf({ digests }: Pick<LookedAt, 'digests'>): readonly string[] {
  return digests.map((digest) => digest.slice(0, MARK));
}

export function isNothing(digest: string): boolean {
  return digest === NOTHING || digest === NOTHING.slice(0, MARK);
}
