import { realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { OutputFile } from '../model/outcome.js';
import type { DiskStore } from '../store/disk-store.js';
import { isSafeOutputPath } from '../store/output-path.js';
import { isInside } from '../util/inside.js';
import type { Project } from '../util/project.js';
import { findFiles } from './files/find-files.js';
import { parseGlob } from './files/glob-pattern.js';
import { uncovered } from './files/select-paths.js';
import { keepLink } from './output-links.js';

/** Permission bits only: a restored file never gets setuid or setgid. */
export const MODE = 0o777;

interface CaptureOptions {
  readonly project: Project;
  readonly store: DiskStore;
  /** Why the content of a file must not be kept; the file is then not copied at all. */
  readonly objection?: (absolute: string) => string | undefined;
}

/** Keeps the declared files of a phase that has just succeeded. */
export async function captureOutputs(
  outputs: readonly string[],
  { project, store, objection }: CaptureOptions,
): Promise<{ readonly files: readonly OutputFile[] } | { readonly failed: string }> {
  const paths = new Map<string, string | undefined>();
  for (const glob of outputs) {
    // It may hold the item of a map, and items come from anywhere.
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

/** The first reported write that `outputs` does not cover; such a result cannot be restored, so it is not stored. */
export async function undeclaredWrite(
  written: readonly string[],
  declared: { readonly outputs: readonly string[]; readonly cwd: string; readonly root: string },
): Promise<string | undefined> {
  if (written.length === 0) return undefined;
  const { root } = declared;
  const real = written.map((path) => realFolder(resolve(declared.cwd, path)));
  const outside = real.find((path) => !isInside(root, path));
  if (outside !== undefined) return outside;
  return uncovered(
    real.map((path) => relative(root, path)),
    declared.outputs,
  );
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
