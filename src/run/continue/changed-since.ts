import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { folderTime, isOwnFile, ownFiles } from '../../memo/files/written-files.js';
import { isInside } from '../../util/inside.js';
import { isPrintedTo, type Project, STATE_DIR } from '../../util/project.js';
import { userCacheDir } from '../../util/user-cache.js';
import { changedVariable, endOnFileClock, isOfEditor, namesBeside, withoutEditor } from '../history/end-stamp.js';
import { type RunHead, runHead } from '../history/run-head.js';

/** `unobserved`: what nobody observes; for a result of which it is known what it read of the project itself. */
export type Around = 'everything' | 'unobserved';

/**
 * What changed since a run ended, in words; undefined when nothing did. Asked for results with undeclared inputs: they
 * may have read any file of the project, and any variable.
 */
export function changedSince(
  project: Project,
  previous: RunHead,
  { flowFiles = [], around = 'everything' }: { readonly flowFiles?: readonly string[]; readonly around?: Around } = {},
): string | undefined {
  const variable = changedVariable(project, previous.runId);
  if (variable !== undefined) return `${variable} changed in the environment, and its inputs are not declared`;
  const path = new Look(project, previous, { flowFiles, around }).changed();
  return path === undefined ? undefined : `${path} changed since, and its inputs are not declared`;
}

/** The same for a run's id. A removed run counts as changed. */
export function changedSinceRun(
  project: Project,
  runId: string,
  what: { readonly flowFiles?: readonly string[]; readonly around: Around },
): string | undefined {
  const head = runHead(project, runId);
  return head ? changedSince(project, head, what) : 'the run that made it was removed';
}

/** Our own state, settings (what they decide is in the keys), and what tools write beside packages in passing. */
const NO_INPUTS = [
  `${STATE_DIR}/config.yaml`,
  `${STATE_DIR}/cache`,
  `${STATE_DIR}/runs`,
  'node_modules/.cache',
  'node_modules/.vite',
];
/** Of a repository: which commit is checked out. Git rewrites the rest whenever somebody looks. */
const OF_GIT = ['HEAD', 'packed-refs', 'refs'];
/** More files behind links that lead out of the project are not worth looking at: something may have changed there. */
const MOST_OUTSIDE = 20_000;

class Look {
  readonly #moment: number;
  readonly #state: string;
  readonly #flow: string | undefined;
  readonly #before: readonly string[] | undefined;
  readonly #leftOut: ReadonlySet<string>;
  readonly #all: boolean;
  readonly #visited = new Set<string>();
  #own: ReadonlyMap<string, string> | undefined;
  #outside = 0;

  constructor(
    private readonly project: Project,
    previous: RunHead,
    { flowFiles, around }: { readonly flowFiles: readonly string[]; readonly around: Around },
  ) {
    this.#all = around === 'everything';
    const { file } = previous.run;
    this.#moment = endOnFileClock(project, previous);
    this.#state = join(project.root, STATE_DIR);
    this.#flow = file === undefined ? undefined : join(project.root, file);
    this.#before = namesBeside(project, previous.runId);
    const ours = userCacheDir(project.env, project.home);
    this.#leftOut = new Set([ours, ...flowFiles, ...NO_INPUTS.map((path) => join(project.root, path))]);
  }

  /** The first path that is newer than the moment, relative to the root. */
  changed(): string | undefined {
    const path = this.#folder(this.project.root);
    return path === undefined ? undefined : relative(this.project.root, path) || 'the project';
  }

  #folder(folder: string): string | undefined {
    let entries: Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      // Unreadable, or gone while we look: something happened.
      return folder;
    }
    const other = this.#otherIn(folder, entries);
    if (other !== undefined) return other;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (this.#isIgnored(path)) continue;
      const found = entry.name === '.git' ? this.#repository(path, entry) : this.#entry(path, entry);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #entry(path: string, entry: Dirent): string | undefined {
    if (entry.isSymbolicLink()) return this.#isNewer(path) ? path : this.#target(path);
    if (entry.isDirectory()) return this.#folder(path);
    return this.#isNewer(path) && !this.#isOwn(path) ? path : undefined;
  }

  /** What a link leads to; inside of the project it is looked at where it is. */
  #target(link: string): string | undefined {
    let target: string;
    let stats: Stats;
    try {
      target = realpathSync(link);
      stats = statSync(target);
    } catch {
      // It leads nowhere, as it did.
      return undefined;
    }
    if (isInside(this.project.root, target) || this.#visited.has(target)) return undefined;
    this.#visited.add(target);
    this.#outside += 1;
    if (this.#outside > MOST_OUTSIDE) return link;
    if (!stats.isDirectory()) return stats.ctimeMs >= this.#moment ? link : undefined;
    return this.#folder(target) === undefined ? undefined : link;
  }

  #repository(path: string, entry: Dirent): string | undefined {
    if (!entry.isDirectory()) return this.#isNewer(path) ? path : undefined;
    for (const name of OF_GIT) {
      const part = join(path, name);
      const stats = lstatSync(part, { throwIfNoEntry: false });
      if (stats?.isDirectory() ? this.#folder(part) !== undefined : stats && stats.ctimeMs >= this.#moment) {
        return path;
      }
    }
    return undefined;
  }

  /** Editors replace a file by a new one, so the flow's own folder is compared by its names. */
  #otherIn(folder: string, entries: readonly Dirent[]): string | undefined {
    if (!this.#counts(folder)) return undefined;
    if (this.#flow === undefined || folder !== dirname(this.#flow) || !this.#before) {
      // A run itself makes folders in these: a store that was just made is no change of the project.
      const isOurs = folder === this.#state || folder === dirname(this.#state);
      return !isOurs && this.#isNewer(folder) && !this.#onlyOwnCame(folder) ? folder : undefined;
    }
    const names = withoutEditor(
      entries.map(({ name }) => name),
      this.#flow,
    );
    const [now, before] = [new Set(names), new Set(this.#before)];
    const differing = [...names.filter((name) => !before.has(name)), ...this.#before.filter((name) => !now.has(name))];
    return differing.map((name) => join(folder, name)).find((path) => !this.#isOwn(path));
  }

  #isIgnored(path: string): boolean {
    if (this.#leftOut.has(path) || path === this.#flow) return true;
    return this.#flow !== undefined && isOfEditor(basename(path), basename(this.#flow));
  }

  /** Observation leaves out packages and repositories. */
  #counts(path: string): boolean {
    return this.#all || /\/(?:node_modules|\.git)(?:\/|$)/.test(path);
  }

  /** A report or an archive that we wrote ourselves. */
  #isOwn(path: string): boolean {
    this.#own ??= ownFiles(this.project);
    return isOwnFile(this.project, this.#own, path);
  }

  #onlyOwnCame(folder: string): boolean {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    return stats !== undefined && folderTime(this.project, folder, stats.ctimeMs) < this.#moment;
  }

  #isNewer(path: string): boolean {
    if (!this.#counts(path)) return false;
    // Gone while we look: something happened.
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats === undefined || (stats.ctimeMs >= this.#moment && !isPrintedTo(this.project, stats));
  }
}
