import { closeSync, openSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { removeIfThere, temporaryName, writeAll, writeFileAtomic, writeFileTidily } from '../../util/atomic-write.js';
import { appendDerivedFile, readDerivedFile, writeDerivedFile } from '../../util/derived-cache.js';
import { sha256Hex, sha256Stream } from '../../util/digest.js';
import { digestFile, digestSmallFile } from '../../util/digest-file.js';
import { isInside, realPath, relativePath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';

/**
 * Files that taskflow itself writes for people (archives, reports, the results of a batch), with the digest of what it
 * wrote. They are no input of a phase: `git:worktree` leaves each out for as long as its content is still ours.
 *
 * One line `["<digest>","<path>"]` per file, appended; the last one for a path holds. A lost line costs a miss.
 */
const LIST = 'written.jsonl';
/**
 * Writing a file changes its folder, too. One line `["<before>","<after>","<path>"]` with the times of the folder: it
 * proves that nothing but our file came or went. A lost line costs a miss.
 */
const FOLDERS = 'written-in.jsonl';

/** As `writeFileAtomic`, for a file of ours. Recorded before it exists, so that no phase sees it as a change. */
export function writeOwnFile(
  project: Project,
  path: string,
  { data, mode, amongMany }: { readonly data: string | Buffer; readonly mode?: number; readonly amongMany?: true },
): ReturnType<typeof writeFileAtomic> {
  record(project, path, sha256Hex(data));
  if (amongMany) return writeFileAtomic(path, data, mode);
  const folder = dirname(path);
  const before = timeOf(folder);
  const written = writeFileTidily(path, data, mode);
  recordFolder(project, folder, [before, timeOf(folder)]);
  return written;
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

/** For a file that is there already: an archive that was just written, or came from another machine. */
export async function recordOwnFile(project: Project, path: string): Promise<void> {
  const stat = statIfThere(path);
  if (stat?.isFile()) record(project, path, await digestFile(path, stat.size));
}

/** Digest of each, by path from the project root. */
export function ownFiles(project: Project): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const lines = (readDerivedFile(project, LIST)?.toString('utf8') ?? '').split('\n').filter(Boolean);
  for (const line of lines) {
    const [digest, path] = parseLine(line) ?? [];
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

/** Whether this is a file of ours as we wrote it, or was one and is gone. Of a large one nobody asks: it is read. */
export function isOwnFile(project: Project, files: ReadonlyMap<string, string>, path: string): boolean {
  const digest = files.get(relativePath(project.root, path));
  if (digest === undefined) return false;
  const stat = statIfThere(path);
  return stat === undefined || (stat.isFile() && stat.size <= LARGEST_READ && digestSmallFile(path) === digest);
}

const LARGEST_READ = 64 * 1024 * 1024;

/** When something other than a file of ours last came to or left the folder, as far as we know. */
export function folderTime(project: Project, folder: string, time: number): number {
  const path = relativePath(project.root, folder);
  const lines = (readDerivedFile(project, FOLDERS)?.toString('utf8') ?? '').split('\n').filter(Boolean);
  if (lines.length > SHORT) writeDerivedFile(project, FOLDERS, '');
  let last = time;
  for (const line of lines.reverse()) {
    const [before, after, of] = parseLine(line) ?? [];
    if (of === path && after === String(last)) last = Number(before);
  }
  return last;
}

function timeOf(folder: string): number | undefined {
  return statIfThere(folder)?.ctimeMs;
}

function recordFolder(project: Project, folder: string, times: readonly (number | undefined)[]): void {
  const { root } = project;
  const real = realPath(folder);
  if (times.includes(undefined) || !isInside(root, real)) return;
  appendDerivedFile(project, FOLDERS, `${JSON.stringify([...times.map(String), relativePath(root, real)])}\n`);
}

/** Best effort: where nothing can be kept, the file counts as a change. */
function record(project: Project, path: string, digest: string): void {
  const { root } = project;
  const real = join(realPath(dirname(path)), basename(path));
  if (!isInside(root, real)) return;
  appendDerivedFile(project, LIST, lineOf(digest, relativePath(root, real)));
}

function lineOf(digest: string, path: string): string {
  return `${JSON.stringify([digest, path])}\n`;
}

function parseLine(line: string): readonly string[] | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    return Array.isArray(parsed) && parsed.every((part) => typeof part === 'string') ? parsed : undefined;
  } catch {
    // Torn: the file counts as a change.
    return undefined;
  }
}
