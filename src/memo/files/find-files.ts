import { readlinkSync, statSync } from 'node:fs';
import type { Entry } from 'fast-glob';
import { relativePath } from '../../util/inside.js';
import { type FileSink, FoundFiles } from './found-files.js';
import type { GlobPattern } from './glob-pattern.js';
import { matchEntries, UnusablePattern } from './match-entries.js';
import { GlobFailure, ProjectView } from './project-view.js';
import { selectPaths } from './select-paths.js';

interface FindOptions {
  /** Absolute and real. */
  readonly root: string;
  /** Further folders to leave out, relative to the root. */
  readonly leftOut?: readonly string[];
  /** `as they are`: a link is found as a link. Default: its target is found. */
  readonly links?: 'as they are';
  /** Matches of these globs are not found. */
  readonly except?: readonly string[];
}

/**
 * Finds every file that the pattern matches: for `glob:`, `context` and `outputs` alike. A link to something inside the
 * project counts as its target; one that leaves the project is a failure.
 */
export async function findFiles(
  pattern: GlobPattern,
  options: FindOptions,
): Promise<FoundFiles | { readonly failed: string }> {
  const found = new FoundFiles();
  return (await findInto(found, pattern, options)) ?? found;
}

/** The same, for a caller that need not keep all files. Undefined when all went well. */
export async function findInto(
  sink: FileSink,
  pattern: GlobPattern,
  options: FindOptions,
): Promise<{ readonly failed: string } | undefined> {
  const { root, except = [] } = options;
  const view = new ProjectView(root, pattern, options.leftOut);
  try {
    const entries = await matchEntries([pattern], root, view);
    const paths = entries.filter(({ dirent }) => !dirent.isDirectory()).map(({ path }) => path);
    const excluded = await selectPaths(except.length > 0 ? paths : [], except);
    report(sink, excluded.size > 0 ? entries.filter(({ path }) => !excluded.has(path)) : entries, { view, options });
    return undefined;
  } catch (error) {
    if (error instanceof GlobFailure || error instanceof UnusablePattern) return { failed: error.message };
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { failed: `${path === undefined ? 'a file' : relativePath(root, path)} cannot be read (${code})` };
  }
}

const IF_THERE = { throwIfNoEntry: false } as const;

/** Skips folders, which are found only because links to them look alike. */
function report(
  sink: FileSink,
  entries: readonly Entry[],
  { view, options }: { readonly view: ProjectView; readonly options: FindOptions },
): void {
  const keptLinks = options.links === 'as they are' ? linksAmong(entries, options.root, view) : undefined;
  for (const [path, target] of keptLinks ?? []) sink.link(path, target);
  for (const { path, dirent } of entries) {
    if (keptLinks && isBelow(path, keptLinks)) continue;
    const absolute = `${options.root}/${path}`;
    if (dirent.isFile()) {
      // A link that leaves the project must not be followed, not even for a stat.
      view.linkAt(absolute);
      const stat = statSync(absolute, IF_THERE);
      if (stat) sink.file(path, stat);
      else if (path.includes('\ufffd')) throw new GlobFailure(`the name of ${path} is not UTF-8`);
      // Else it was removed after it was listed.
    } else if (dirent.isSymbolicLink() && !view.isCircle(absolute)) {
      sink.link(path, readlinkSync(absolute));
    }
  }
}

function linksAmong(entries: readonly Entry[], root: string, view: ProjectView): Map<string, string> {
  const links = new Map<string, string>();
  for (const { path } of entries) {
    const target = view.linkAt(`${root}/${path}`);
    if (target !== undefined) links.set(path, target);
  }
  return links;
}

/** Whether the path is one of these links, or was reached through one. */
function isBelow(path: string, links: ReadonlyMap<string, string>): boolean {
  if (links.size === 0) return false;
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (links.has(path.slice(0, end))) return true;
  }
  return false;
}
