import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { askGit, type GitAnswer, withoutLocation } from '../../process/git.js';
import { answersSignals } from '../../process/send-signal.js';
import { namesIn } from '../../util/if-there.js';
import { oneAtATime } from '../../util/one-at-a-time.js';
import type { Project } from '../../util/project.js';
import { userCacheDir } from '../../util/user-cache.js';

/** A folder that holds a commit, for one unit at a time. */
interface Checkout {
  readonly path: string;
  /** Cleans it up, so that the next unit finds nothing of this one. */
  leave(): void;
}

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * Checkouts of the worker's own repository, kept for the next unit of the same commit. A job cannot name a source:
 * missing commits come from the repository's own `origin`, which is asked once per commit.
 */
export class Checkouts {
  readonly #idle = new Map<string, string[]>();
  readonly #cleaning = new Set<Promise<void>>();
  readonly #fetched = new Set<string>();
  readonly #inTurn = oneAtATime();
  readonly #folder: string;
  #made = 0;

  constructor(
    private readonly repository: Project,
    /** How many idle checkouts to keep. */
    private readonly mostIdle: number,
  ) {
    const all = join(userCacheDir(repository.env, repository.home), 'checkouts');
    removeLeft(all);
    this.#folder = join(all, String(process.pid));
  }

  async enter(commit: string): Promise<Checkout | { readonly failed: string }> {
    if (!COMMIT.test(commit)) return { failed: 'the job names no commit' };
    const path = this.#idle.get(commit)?.pop() ?? (await this.#make(commit));
    if (typeof path !== 'string') return path;
    const leave = () => {
      const cleaning = this.#clean(commit, path).finally(() => this.#cleaning.delete(cleaning));
      this.#cleaning.add(cleaning);
    };
    return { path, leave };
  }

  /** Removes them all. */
  async close(): Promise<void> {
    await Promise.all(this.#cleaning);
    rmSync(this.#folder, { recursive: true, force: true });
    await this.#git(this.repository.root, 'worktree', 'prune');
  }

  async #make(commit: string): Promise<string | { readonly failed: string }> {
    // Git looks at all worktrees when it makes one.
    return this.#inTurn(async () => {
      const missing = await this.#missing(commit);
      if (missing !== undefined) return { failed: missing };
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      this.#made += 1;
      const path = join(this.#folder, String(this.#made));
      const made = await this.#git(this.repository.root, 'worktree', 'add', '--detach', path, commit);
      return 'failed' in made ? { failed: `no checkout of ${commit.slice(0, 12)}: ${made.failed}` } : path;
    });
  }

  async #missing(commit: string): Promise<string | undefined> {
    const { root } = this.repository;
    const has = async () => !('failed' in (await this.#git(root, 'cat-file', '-e', `${commit}^{commit}`)));
    if (await has()) return undefined;
    if (!this.#fetched.has(commit)) {
      this.#fetched.add(commit);
      await this.#git(root, 'fetch', '--quiet', 'origin');
      if (await has()) return undefined;
    }
    return `its repository has no commit ${commit.slice(0, 12)}: push it`;
  }

  async #clean(commit: string, path: string): Promise<void> {
    const reset = await this.#git(path, 'reset', '--quiet', '--hard', commit);
    const cleaned = 'failed' in reset ? reset : await this.#git(path, 'clean', '-ffdxq');
    const idle = [...this.#idle.values()].reduce((sum, paths) => sum + paths.length, 0);
    if ('failed' in cleaned || idle >= this.mostIdle) {
      await this.#inTurn(() => this.#git(this.repository.root, 'worktree', 'remove', '--force', path));
      return;
    }
    this.#idle.set(commit, [...(this.#idle.get(commit) ?? []), path]);
  }

  #git(cwd: string, ...args: string[]): Promise<GitAnswer> {
    const { env } = this.repository;
    return askGit(args, { cwd, env: withoutLocation(env), mayFetch: true });
  }
}

/** Removes folders of workers that were killed. */
function removeLeft(all: string): void {
  for (const name of namesIn(all)) {
    if (!answersSignals(Number(name))) rmSync(join(all, name), { recursive: true, force: true });
  }
}
