import type { FSWatcher } from 'chokidar';
import { sha256Hex } from '../../util/digest.js';
import { isPrintedTo, type Project } from '../../util/project.js';
import { readBounded } from '../../util/read-bounded.js';
import { statIfThere } from '../../util/stat.js';
import { delay, nextTurn } from '../../util/timer.js';
import { WatchFilter } from './watch-filter.js';
import { gitView, NO_GIT_VIEW } from './watch-git.js';
import type { WatchedPaths } from './watch-paths.js';

/** Waits this long for further edits of the same save or checkout. */
const GATHER_MS = 100;
/** A larger file counts as changed when its file stats are. */
const LARGEST_READ = 4 * 1024 * 1024;

interface FileWatchOptions {
  readonly project: Project;
  /** Called with the watched files whose content has changed. */
  readonly onChange: (paths: readonly string[]) => Promise<void>;
  /** Called when a watch fails. */
  readonly onProblem: (message: string) => void;
}

/** Watches the files that a run looks at, and compares contents: a file that was only touched has not changed. */
export class FileWatch {
  #watcher: FSWatcher | undefined;
  #filter: WatchFilter | undefined;
  #watched = '';
  readonly #known = new Map<string, string>();
  readonly #touched = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #comparing: Promise<void> = Promise.resolve();
  #opening: Promise<void> = Promise.resolve();
  #isQueued = false;

  constructor(private readonly options: FileWatchOptions) {}

  /** Resolves when every later edit of these paths will be noticed. Calls `pathsNow` when its turn comes. */
  watch(pathsNow: () => WatchedPaths): Promise<void> {
    if (this.#isQueued) return this.#opening;
    this.#isQueued = true;
    this.#opening = this.#opening.then(async () => {
      await nextTurn();
      this.#isQueued = false;
      await this.#watchNow(pathsNow());
    });
    return this.#opening;
  }

  async #watchNow(paths: WatchedPaths): Promise<void> {
    const { project } = this.options;
    const git = paths.refs ? await gitView(project) : NO_GIT_VIEW;
    const filter = new WatchFilter(project, paths, git);
    const lists = [paths.files, paths.folders, paths.globs, git.ignored, git.refs].map((list) => [...list].sort());
    const watched = JSON.stringify([lists, paths.worktree, filter.roots()]);
    if (watched === this.#watched) return;
    const watcher = await this.#open(filter);
    const before = this.#watcher;
    [this.#watcher, this.#filter, this.#watched] = [watcher, filter, watched];
    await before?.close();
  }

  /** Compares what has been touched until now. */
  async settle(): Promise<void> {
    await delay(GATHER_MS);
    while (this.#timer) await this.#compareNow();
    await this.#comparing;
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#watcher?.close();
  }

  async #open(filter: WatchFilter): Promise<FSWatcher> {
    const { watch } = await import('chokidar');
    const watcher = watch(filter.roots(), {
      ignored: (path) => !filter.mayCount(path),
      // A link inside the project is watched where it leads; one that leaves the project is no input.
      followSymlinks: false,
      atomic: true,
      ignorePermissionErrors: true,
    });
    let isReady = false;
    watcher.on('all', (_event, path) => {
      if (!isReady && !this.#known.has(path)) this.#known.set(path, contentOf(path));
      else this.#touch(path);
    });
    watcher.on('error', (error) => this.options.onProblem(whyUnwatchable(error as NodeJS.ErrnoException)));
    await new Promise<void>((resolve) => watcher.on('ready', () => resolve()));
    isReady = true;
    return watcher;
  }

  #touch(path: string): void {
    this.#touched.add(path);
    this.#timer ??= setTimeout(() => void this.#compareNow(), GATHER_MS);
  }

  #compareNow(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#comparing = this.#comparing.then(() => this.#compare());
    return this.#comparing;
  }

  async #compare(): Promise<void> {
    const touched = [...this.#touched];
    this.#touched.clear();
    const counting = this.#filter ? await this.#filter.select(touched) : [];
    const changed = counting.filter((path) => this.#hasChanged(path));
    if (changed.length > 0) await this.options.onChange(changed);
  }

  #hasChanged(path: string): boolean {
    const stat = statIfThere(path);
    if (stat && isPrintedTo(this.options.project, stat)) return false;
    const now = contentOf(path);
    if (now === (this.#known.get(path) ?? ABSENT)) return false;
    this.#known.set(path, now);
    return true;
  }
}

const ABSENT = 'absent';

function contentOf(path: string): string {
  const stat = statIfThere(path);
  if (!stat) return ABSENT;
  if (!stat.isFile()) return 'no file';
  const bytes = stat.size > LARGEST_READ ? undefined : readBounded(path, LARGEST_READ);
  return bytes === undefined ? `${stat.size} ${stat.mtimeMs}` : sha256Hex(bytes);
}

function whyUnwatchable({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOSPC') return 'the system has no watches left: raise fs.inotify.max_user_watches';
  if (code === 'EMFILE') return 'too many open files: raise the limit (ulimit -n)';
  return message;
}
