import { chmodSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { OutputFile } from '../model/outcome.js';
import type { DiskStore } from '../store/disk-store.js';
import { isLink, isSafeOutputPath, problemOfFiles } from '../store/output-path.js';
import { isInside } from '../util/inside.js';
import type { Project } from '../util/project.js';
import { lstatIfThere } from '../util/stat.js';
import type { KnownStats } from './files/known-stats.js';
import { uncovered } from './files/select-paths.js';
import { MODE } from './output-files.js';
import { linkDigest, restoreLink } from './output-links.js';

type RestoreResult =
  | { readonly restored: number }
  /** Why the entry cannot be used. No file of the user was changed. */
  | { readonly miss: string };

interface RestoreOptions {
  readonly project: Project;
  readonly store: DiskStore;
  readonly stats: KnownStats;
  /** What the phase declares now. Nothing else is written, because the entry may come from anybody. */
  readonly outputs: readonly string[];
  /** Checks without writing. */
  readonly look?: boolean;
}

/** Restores the files of an entry. Checks all before it writes any; with `look`, it writes none. */
export async function restoreOutputs(files: readonly OutputFile[], options: RestoreOptions): Promise<RestoreResult> {
  const { project, store, outputs, look } = options;
  const problem = problemOfFiles(files) ?? (await notDeclared(files, outputs));
  if (problem !== undefined) return { miss: problem };
  const missing: OutputFile[] = [];
  const wrongMode: OutputFile[] = [];
  for (const file of files) {
    const state = await inspect(file, options);
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

async function notDeclared(files: readonly OutputFile[], outputs: readonly string[]): Promise<string | undefined> {
  const path = await uncovered(
    files.map((file) => file.path),
    outputs,
  );
  return path === undefined ? undefined : `${path} is not among the outputs that the phase declares`;
}

function write(file: OutputFile, { root }: Project, store: DiskStore): ReturnType<DiskStore['blobs']['restore']> {
  const absolute = join(root, file.path);
  // Checked again: something may have come in the way meanwhile.
  const problem = problemOnTheWay(file.path, root, store);
  if (problem !== undefined) return { failed: problem };
  const { blobs, options } = store;
  return isLink(file)
    ? restoreLink(file, { root, blobs, storeDir: options.dir })
    : blobs.restore(file.digest, absolute, file.mode & MODE);
}

async function inspect(
  file: OutputFile,
  { project: { root }, store, stats }: RestoreOptions,
): Promise<'right' | 'mode' | 'write' | { miss: string }> {
  const { path, digest, mode } = file;
  const absolute = join(root, path);
  const problem = problemOnTheWay(path, root, store);
  if (problem !== undefined) return { miss: problem };
  const stat = lstatIfThere(absolute);
  if (stat === undefined) return 'write';
  if (isLink(file) !== stat.isSymbolicLink() || !(stat.isFile() || stat.isSymbolicLink())) {
    return { miss: `${path} is no longer the kind of file that it was` };
  }
  let current: string;
  try {
    current = isLink(file) ? linkDigest(absolute) : await stats.digest(path, stat);
  } catch (error) {
    return { miss: `${path} cannot be read (${(error as NodeJS.ErrnoException).code})` };
  }
  if (current !== digest) {
    return store.ledger.wrote(path, current) ? 'write' : { miss: `${path} was changed by someone else` };
  }
  return isLink(file) || (stat.mode & MODE) === (mode & MODE) ? 'right' : 'mode';
}

/**
 * The deepest existing folder of the path must really be in the project, and not below `.git` or `.pi`, whatever links
 * there are. A link that came from a phase or an entry is not followed: it may have been made to lead elsewhere.
 */
function problemOnTheWay(path: string, root: string, { ledger }: DiskStore): string | undefined {
  const names = path.split('/');
  let folder = root;
  let depth = 0;
  for (; depth < names.length - 1; depth++) {
    const next = join(folder, names[depth]!);
    const stat = lstatIfThere(next);
    if (stat === undefined) break;
    if (stat.isSymbolicLink() && ledger.wrote(names.slice(0, depth + 1).join('/'), linkDigest(next))) {
      return `${path} leads through a link that a phase made`;
    }
    folder = next;
  }
  try {
    const real = realpathSync(folder);
    if (!isInside(root, real)) return `${path} leads out of the project`;
    const way = relative(root, join(real, ...names.slice(depth)));
    return isSafeOutputPath(way) ? undefined : `${path} leads to ${way}, which is no place for a file`;
  } catch {
    // A link to nothing, or in a circle.
    return `${path} leads out of the project`;
  }
}
