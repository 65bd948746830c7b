import { chmodSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { OutputFile } from '../model/outcome.js';
import type { DiskStore } from '../store/disk-store.js';
import { isSafeOutputPath } from '../store/output-path.js';
import { digestFile } from '../util/digest-file.js';
import { isInside } from '../util/inside.js';
import type { Project } from '../util/project.js';
import { lstatIfThere } from '../util/stat.js';
import { findFiles } from './files/find-files.js';
import { parseGlob } from './files/glob-pattern.js';
import { selectPaths } from './files/select-paths.js';
import { isLink, keepLink, linkDigest, restoreLink } from './output-links.js';

/** Permission bits only: a kept file never comes back as one that runs with someone else's rights. */
const MODE = 0o777;

export interface CaptureOptions {
  readonly project: Project;
  readonly store: DiskStore;
  /** What is to be said against keeping the content of a file; it is then not even copied. */
  readonly objection?: (absolute: string) => string | undefined;
}

/** Keeps the declared files of a phase that has just succeeded. */
export async function captureOutputs(
  outputs: readonly string[],
  { project, store, objection }: CaptureOptions,
): Promise<{ readonly files: readonly OutputFile[] } | { readonly failed: string }> {
  const paths = new Map<string, string | undefined>();
  for (const glob of outputs) {
    // The item of a map may stand in it, and items come from anywhere.
    if (/^[/~\\]|(?:^|\/)\.\.(?:\/|$)|\0/.test(glob)) return { failed: `${glob} leads out of the project` };
    const found = await findFiles(parseGlob(glob), { root: project.root, links: 'as they are' });
    if ('failed' in found) return found;
    for (const path of found.paths) paths.set(path, undefined);
    for (const { path, target } of found.links) paths.set(path, target);
  }
  for (const [path, target] of objection ? paths : []) {
    const word = target === undefined ? objection?.(join(project.root, path)) : undefined;
    if (word !== undefined) return { failed: `${path} ${word}` };
  }
  const files: OutputFile[] = [];
  for (const [path, target] of [...paths].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!isSafeOutputPath(path)) return { failed: `${path} is no place for an output` };
    const kept = target === undefined ? keepFile(path, project, store) : keepLink(path, target, store.blobs);
    if ('failed' in kept) return kept;
    files.push(kept);
  }
  store.ledger.record(files);
  return { files };
}

function keepFile(path: string, { root }: Project, store: DiskStore): OutputFile | { readonly failed: string } {
  const kept = store.blobs.keep(join(root, path));
  return 'failed' in kept ? kept : { path, digest: kept.digest, mode: kept.mode & MODE };
}

export type RestoreResult =
  | { readonly restored: number }
  /** Why the entry cannot be used after all. Nothing of a person's was touched. */
  | { readonly miss: string };

/** Puts the files of an entry back. All are looked at before any is written; with `look`, none is. */
export async function restoreOutputs(
  files: readonly OutputFile[],
  { project, store, look }: { readonly project: Project; readonly store: DiskStore; readonly look?: boolean },
): Promise<RestoreResult> {
  const missing: OutputFile[] = [];
  const wrongMode: OutputFile[] = [];
  for (const file of files) {
    const state = await inspect(file, project, store);
    if (state === 'write') missing.push(file);
    else if (state === 'mode') wrongMode.push(file);
    else if (state !== 'right') return { miss: state.miss };
  }
  if (missing.some(({ digest }) => !store.blobs.has(digest))) return { miss: 'a kept file is missing from the cache' };
  if (look) return { restored: missing.length };
  for (const { path, mode } of wrongMode) chmodSync(join(project.root, path), mode & MODE);
  for (const file of missing) {
    const result = write(file, project, store);
    if ('failed' in result) return { miss: result.failed };
  }
  store.ledger.record(missing);
  return { restored: missing.length };
}

function write(file: OutputFile, { root }: Project, { blobs }: DiskStore): ReturnType<DiskStore['blobs']['restore']> {
  const absolute = join(root, file.path);
  // Asked again: a link of the same entry may stand on the way since.
  if (!parentIsInside(root, absolute)) return { failed: `${file.path} leads out of the project` };
  return isLink(file) ? restoreLink(file, root, blobs) : blobs.restore(file.digest, absolute, file.mode & MODE);
}

async function inspect(
  file: OutputFile,
  { root }: Project,
  store: DiskStore,
): Promise<'right' | 'mode' | 'write' | { miss: string }> {
  const { path, digest, mode } = file;
  if (!isSafeOutputPath(path)) return { miss: `${path} is no place for an output` };
  const absolute = join(root, path);
  if (!parentIsInside(root, absolute)) return { miss: `${path} leads out of the project` };
  const stat = lstatIfThere(absolute);
  if (stat === undefined) return 'write';
  if (isLink(file) !== stat.isSymbolicLink() || stat.isDirectory()) {
    return { miss: `${path} is no longer the kind of file that it was` };
  }
  let current: string;
  try {
    current = isLink(file) ? linkDigest(absolute) : await digestFile(absolute, stat.size);
  } catch (error) {
    return { miss: `${path} cannot be read (${(error as NodeJS.ErrnoException).code})` };
  }
  if (current !== digest) {
    return store.ledger.wrote(path, current) ? 'write' : { miss: `${path} was changed by someone else` };
  }
  return isLink(file) || (stat.mode & MODE) === (mode & MODE) ? 'right' : 'mode';
}

/** The deepest folder on the way that exists must really be in the project, whatever links there are. */
function parentIsInside(root: string, absolute: string): boolean {
  for (let folder = dirname(absolute); ; folder = dirname(folder)) {
    try {
      return isInside(root, realpathSync(folder));
    } catch (error) {
      // Not made yet: ask its parent. A dangling link or a file in the way is no place to write to.
      const absent = (error as NodeJS.ErrnoException).code === 'ENOENT' && lstatIfThere(folder) === undefined;
      if (!absent || folder === root) return false;
    }
  }
}

/** The first reported write that `outputs` does not cover; such a result cannot be restored, so it is not stored. */
export async function undeclaredWrite(
  written: readonly string[],
  declared: { readonly outputs: readonly string[]; readonly cwd: string; readonly root: string },
): Promise<string | undefined> {
  if (written.length === 0) return undefined;
  const seen = written.map((path) => relative(declared.root, realFolder(resolve(declared.cwd, path))));
  const outside = seen.find((path) => path === '..' || path.startsWith('../'));
  if (outside !== undefined) return resolve(declared.root, outside);
  const covered = await selectPaths(seen, declared.outputs);
  return seen.find((path) => !covered.has(path));
}

/** A client may report the path through a link (`/tmp` on some systems is one). */
function realFolder(absolute: string): string {
  try {
    return join(realpathSync(dirname(absolute)), absolute.slice(dirname(absolute).length + 1));
  } catch {
    // The file is gone again together with its folder.
    return absolute;
  }
}
