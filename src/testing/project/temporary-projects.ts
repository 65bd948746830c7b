import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cp, lstat, mkdir, mkdtemp, readlink, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withoutLocation } from '../../process/git.js';
import { runProcess } from '../../process/run-process.js';
import { type Project, STATE_DIR } from '../../util/project.js';
import { lstatIfThere } from '../../util/stat.js';
import { makeTemporaryFolder } from '../../util/temporary-folder.js';
import { derivedDir } from '../../util/user-cache.js';
import { commitAll, trackNew } from './git.js';
import { projectFiles, withoutTests } from './project-files.js';

/** Made by tests and by taskflow: no change of the project. */
const IGNORED = `/node_modules\n${STATE_DIR}/cache/\n${STATE_DIR}/runs/\n`;

/** Copies of a project, one for each chain of cases. The project itself is read once. */
export class TemporaryProjects {
  readonly #base: string;
  readonly #roots: string[] = [];
  #template: Promise<{ readonly root: string; readonly isRepository: boolean }> | undefined;

  constructor(
    private readonly project: Project,
    private readonly signal?: AbortSignal,
  ) {
    this.#base = realpathSync(makeTemporaryFolder('cases'));
  }

  /** A fresh copy; in a repository its state is the one commit of `main`. */
  async open(): Promise<TemporaryProject> {
    this.#template ??= this.#makeTemplate();
    const { root: template, isRepository } = await this.#template;
    const root = join(await mkdtemp(join(this.#base, 'case-')), 'project');
    await copyFolder(template, root, this.project.env);
    this.#linkPackages(root);
    this.#roots.push(root);
    const project: Project = { ...this.project, root, env: withoutLocation(this.project.env) };
    return { project, track: async () => (isRepository ? trackNew(project, this.signal) : undefined) };
  }

  /** Removes the copy, which the next chain does not need. */
  close({ project }: TemporaryProject): void {
    removeAll(dirname(project.root));
    removeAll(derivedDir(project));
  }

  /** Removes everything at once: also called when the process ends in a hurry. */
  removeAll(): void {
    removeAll(this.#base);
    for (const root of this.#roots) removeAll(derivedDir({ ...this.project, root }));
  }

  async #makeTemplate(): Promise<{ readonly root: string; readonly isRepository: boolean }> {
    const root = join(this.#base, 'template');
    await mkdir(join(root, '.pi'), { recursive: true });
    const files = await projectFiles(this.project, this.signal);
    for (const path of withoutTests(files)) await copyOne(join(this.project.root, path), join(root, path));
    const isRepository =
      files.inRepository && (await commitAll({ root, env: withoutLocation(this.project.env) }, this.signal));
    if (isRepository) this.#shareObjects(root);
    return { root, isRepository };
  }

  /** All copies share the objects of the commit, which holds as many files as the project. */
  #shareObjects(root: string): void {
    const shared = join(this.#base, 'objects');
    renameSync(join(root, '.git/objects'), shared);
    for (const folder of ['.git/objects/info', '.git/info']) mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, '.git/objects/info/alternates'), `${shared}\n`);
    writeFileSync(join(root, '.git/info/exclude'), IGNORED);
  }

  /** Scripts run for real, so they need the installed packages. */
  #linkPackages(root: string): void {
    const packages = join(this.project.root, 'node_modules');
    if (lstatIfThere(packages) && !lstatIfThere(join(root, 'node_modules')))
      symlinkSync(packages, join(root, 'node_modules'));
  }
}

export interface TemporaryProject {
  readonly project: Project;
  /** Makes files that were laid over the copy known to git, so that `git diff main` shows them. */
  track(): Promise<void>;
}

/** With `cp`: Node needs five times as long for a thousand files. */
async function copyFolder(from: string, to: string, env: Project['env']): Promise<void> {
  const { failure } = await runProcess({ argv: ['cp', '-RpP', from, to], cwd: dirname(from), env });
  if (!failure) return;
  rmSync(to, { recursive: true, force: true });
  await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

async function copyOne(from: string, to: string): Promise<void> {
  const stat = await lstat(from).catch(() => undefined);
  // Deleted although git lists it, or another repository inside this one.
  if (!stat || stat.isDirectory()) return;
  await mkdir(dirname(to), { recursive: true });
  if (stat.isSymbolicLink()) await symlink(await readlink(from), to);
  else await cp(from, to, { preserveTimestamps: true });
}

function removeAll(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}
