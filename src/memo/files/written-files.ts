import { closeSync, openSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isTextList } from '../../model/json.js';
import { removeIfThere, temporaryName, writeAll, writeFileAtomic, writeFileTidily } from '../../util/atomic-write.js';
import { appendDerivedFile, readDerivedFile, writeDerivedFile } from '../../util/derived-cache.js';
import { sha256Hex, sha256Stream } from '../../util/digest.js';
import { digestFile } from '../../util/digest-file.js';
import { parsedJson } from '../../util/if-there.js';
import { isInside, realPath, relativePath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';

/**
 * Files that taskflow itself writes for people (archives, reports, the results of a batch), with the digest of what it
 * wrote. They are no input of a phase: `git:worktree` leaves each out as long as its content is unchanged.
 *
 * One line `["<digest>","<path>"]` per file, appended; the last one for a path holds. A lost line costs a miss.
 */
const LIST = 'written.jsonl';

/** As `writeFileAtomic`, for a file of ours. Recorded before it is written, so that no phase sees it as a change. */
export function writeOwnFile(
  project: Project,
  path: string,
  { data, mode, amongMany }: { readonly data: string | Buffer; readonly mode?: number; readonly amongMany?: true },
): ReturnType<typeof writeFileAtomic> {
  record(project, path, sha256Hex(data));
  return (amongMany ? writeFileAtomic : writeFileTidily)(path, data, mode);
}

/** The same for data that is too large for memory, in pieces. May throw. */
export function writeOwnPieces(
  project: Project,
  path: string,
  { pieces, mode }: { readonly pieces: Iterable<Buffer>; readonly mode: number },
): void {
  const temporary = temporaryName(path);
  const file = openSync(temporary, 'wx', mode);
  try {
    const hash = sha256Stream();
    for (const piece of pieces) {
      hash.update(piece);
      writeAll(file, piece);
    }
    record(project, path, hash.hex());
    renameSync(temporary, path);
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  } finally {
    closeSync(file);
  }
}

/** For an existing file: an archive that was just written, or came from another machine. */
export async function recordOwnFile(project: Project, path: string): Promise<void> {
  const stat = statIfThere(path);
  if (stat?.isFile()) record(project, path, await digestFile(path, stat.size));
}

/** Digest of each of our files, by path from the project root. */
export function ownFiles(project: Project): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const lines = (readDerivedFile(project, LIST)?.toString('utf8') ?? '').split('\n').filter(Boolean);
  for (const line of lines) {
    const parsed = parsedJson(line);
    // A torn line: its file counts as a change.
    if (!isTextList(parsed)) continue;
    const [digest, path] = parsed;
    if (digest !== undefined && path !== undefined) files.set(path, digest);
  }
  if (lines.length > SHORT && lines.length > 2 * files.size) compactList(project, files);
  return files;
}

const SHORT = 1_000;

function compactList(project: Project, files: ReadonlyMap<string, string>): void {
  const lines = [...files]
    .filter(([path]) => statIfThere(join(project.root, path)))
    .map(([path, digest]) => lineOf(digest, path));
  writeDerivedFile(project, LIST, lines.join(''));
}

/** Best effort: where the list cannot be written, the file counts as a change. */
function record(project: Project, path: string, digest: string): void {
  const { root } = project;
  const real = join(realPath(dirname(path)), basename(path));
  if (!isInside(root, real)) return;
  appendDerivedFile(project, LIST, lineOf(digest, relativePath(root, real)));
}

function lineOf(digest: string, path: string): string {
  return `${JSON.stringify([digest, path])}\n`;
}
