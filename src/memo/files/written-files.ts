import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeFileAtomic } from '../../util/atomic-write.js';
import { sha256Hex } from '../../util/digest.js';
import { digestFile } from '../../util/digest-file.js';
import { isInside, realPath, relativePath } from '../../util/inside.js';
import { DERIVED_DIR, type Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';

/**
 * Files that taskflow itself writes for people (archives, reports, the results of a batch), with the digest of what it
 * wrote. They are no input of a phase: `git:worktree` leaves each out for as long as its content is still ours.
 *
 * One line `["<digest>","<path>"]` per file, appended; the last one for a path holds. A lost line costs a miss.
 */
const LIST = `${DERIVED_DIR}/written.jsonl`;

/** As `writeFileAtomic`, for a file of ours. Recorded before the file is there, so that no phase ever sees it as a change. */
export function writeOwnFile(
  project: Project,
  path: string,
  { data, mode }: { readonly data: string | Buffer; readonly mode?: number },
): ReturnType<typeof writeFileAtomic> {
  record(project, path, sha256Hex(data));
  return writeFileAtomic(path, data, mode);
}

/** For a file that is there already: an archive that was just written, or came from another machine. */
export async function recordOwnFile(project: Project, path: string): Promise<void> {
  const stat = statIfThere(path);
  if (stat?.isFile()) record(project, path, await digestFile(path, stat.size));
}

/** Digest of each, by path from the project root. */
export function ownFiles({ root }: Project): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const lines = readLines(join(root, LIST));
  for (const line of lines) {
    const [digest, path] = parseLine(line) ?? [];
    if (digest !== undefined && path !== undefined) files.set(path, digest);
  }
  if (lines.length > SHORT && lines.length > 2 * files.size) shorten(root, files);
  return files;
}

const SHORT = 1_000;

function shorten(root: string, files: ReadonlyMap<string, string>): void {
  const lines = [...files]
    .filter(([path]) => statIfThere(join(root, path)))
    .map(([path, digest]) => lineOf(digest, path));
  writeFileAtomic(join(root, LIST), lines.join(''));
}

function record({ root }: Project, path: string, digest: string): void {
  const real = join(realPath(dirname(path)), basename(path));
  if (!isInside(root, real)) return;
  const line = lineOf(digest, relativePath(root, real));
  try {
    appendFileSync(join(root, LIST), line, { mode: 0o600 });
  } catch {
    makeList(root, line);
  }
}

/** Best effort: in a project that cannot be written, the file counts as a change. */
function makeList(root: string, line: string): void {
  const folder = join(root, DERIVED_DIR);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileAtomic(join(folder, '.gitignore'), '*\n');
    appendFileSync(join(root, LIST), line, { mode: 0o600 });
  } catch {
    // Read-only, or full.
  }
}

function lineOf(digest: string, path: string): string {
  return `${JSON.stringify([digest, path])}\n`;
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean);
  } catch {
    // Nothing was written yet.
    return [];
  }
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
