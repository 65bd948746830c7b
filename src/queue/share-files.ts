import { join } from 'node:path';
import type { DeclaredFile } from '../run/core/unit-job.js';
import { blobPath } from '../store/paths.js';
import type { Project } from '../util/project.js';
import { lstatIfThere, statIfThere } from '../util/stat.js';
import type { Share } from './share.js';
import type { WorkTree } from './work-tree.js';

/** Uploads files that are in no commit, for workers: by digest, each once. */
export class FileSharer {
  readonly #shared = new Map<string, Promise<string | undefined>>();

  constructor(
    private readonly project: Project,
    private readonly share: Share,
  ) {}

  /** The files that a worker has to lay over the commit; or why they cannot be shared. */
  async overlay(
    files: readonly DeclaredFile[],
    tree: WorkTree,
  ): Promise<{ readonly files: readonly DeclaredFile[] } | { readonly failed: string }> {
    const own = files.filter(({ path }) => !tree.isClean(path));
    const placed: DeclaredFile[] = [];
    for (const file of own) {
      const stat = lstatIfThere(join(this.project.root, file.path));
      if (!stat?.isFile()) return { failed: `${file.path} is no plain file` };
      placed.push({ ...file, mode: stat.mode & 0o777 });
    }
    const problems = await Promise.all(placed.map((file) => this.#put(file)));
    const failed = problems.find((problem) => problem !== undefined);
    return failed === undefined ? { files: placed } : { failed };
  }

  #put({ path, digest }: DeclaredFile): Promise<string | undefined> {
    const known = this.#shared.get(digest);
    if (known) return known;
    const putting = this.#upload(path, digest);
    this.#shared.set(digest, putting);
    // What failed is tried again for the next unit.
    void putting.then((failed) => failed !== undefined && this.#shared.delete(digest));
    return putting;
  }

  async #upload(path: string, digest: string): Promise<string | undefined> {
    const { disk } = this.share;
    const kept = disk.blobs.keep(join(this.project.root, path));
    if ('failed' in kept) return kept.failed;
    if (kept.digest !== digest) return `${path} has changed meanwhile`;
    const bytes = statIfThere(blobPath(disk.options.dir, digest))?.size ?? 0;
    const failed = await this.share.cache().putBlob(digest, bytes);
    return failed === undefined ? undefined : `${path} was not uploaded: ${failed}`;
  }
}
