import type { Dirent, Stats } from 'node:fs';
import { dirname } from 'node:path';
import type { Entry } from 'fast-glob';
import { type GlobPattern, LEFT_OUT, parseGlob } from './glob-pattern.js';
import { type GlobFileSystem, matchEntries, UnusablePattern } from './match-entries.js';

/**
 * The paths that any of the patterns matches, whether or not such files exist. fast-glob decides, over a tree of only
 * these paths, so this never differs from what `findFiles` finds.
 */
export async function selectPaths(paths: readonly string[], patterns: readonly string[]): Promise<Set<string>> {
  const selected = new Set<string>();
  if (paths.length === 0 || patterns.length === 0) return selected;
  const wild: GlobPattern[] = [];
  for (const pattern of patterns.map(parseGlob)) {
    if (!pattern.literal) wild.push(pattern);
    else for (const path of paths) if (isNamed(path, pattern.text)) selected.add(path);
  }
  const inside = paths.filter((path) => !selected.has(path) && !path.startsWith('../'));
  if (inside.length === 0) return selected;
  for (const pattern of wild) {
    const among = inside.filter((path) => !isLeftOut(path, pattern));
    for (const { path, dirent } of await entriesAmong(among, [pattern])) if (dirent.isFile()) selected.add(path);
  }
  return selected;
}

/** The first of the paths that none of the patterns matches; undefined when all are covered. */
export async function uncovered(paths: readonly string[], patterns: readonly string[]): Promise<string | undefined> {
  const covered = await selectPaths(paths, patterns);
  return paths.find((path) => !covered.has(path));
}

export async function isSelected(path: string, patterns: readonly string[]): Promise<boolean> {
  return (await selectPaths([path], patterns)).size > 0;
}

/** An unusable pattern selects nothing: the code that captures outputs reports it. */
async function entriesAmong(paths: readonly string[], patterns: readonly GlobPattern[]): Promise<Entry[]> {
  try {
    return await matchEntries(patterns, '/', treeOf(paths));
  } catch (error) {
    if (error instanceof UnusablePattern) return [];
    throw error;
  }
}

/** Leaves out the folders that a pattern does not see in a real tree. */
function isLeftOut(path: string, pattern: GlobPattern): boolean {
  const names = path.split('/');
  return LEFT_OUT.some((name) => names.includes(name) && !pattern.names(name));
}

function isNamed(path: string, name: string): boolean {
  return path === name || path.startsWith(`${name}/`);
}

type EntryKind = Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>;
const yes = () => true;
const no = () => false;
const NOTHING = { isSymbolicLink: no, isBlockDevice: no, isCharacterDevice: no, isFIFO: no, isSocket: no };
const FILE: EntryKind = { ...NOTHING, isFile: yes, isDirectory: no };
const FOLDER: EntryKind = { ...NOTHING, isFile: no, isDirectory: yes };

/** A file system with these files and their folders, as far as fast-glob asks. */
function treeOf(paths: readonly string[]): GlobFileSystem {
  const kinds = new Map<string, EntryKind>([['/', FOLDER]]);
  const folders = new Map<string, Dirent[]>();
  const add = (path: string, kind: EntryKind): void => {
    if (kinds.has(path)) return;
    kinds.set(path, kind);
    const folder = dirname(path);
    add(folder, FOLDER);
    const entry = { ...kind, name: path.slice(path.lastIndexOf('/') + 1) } as Dirent;
    const siblings = folders.get(folder);
    if (siblings) siblings.push(entry);
    else folders.set(folder, [entry]);
  };
  for (const path of paths) add(`/${path}`, FILE);
  return {
    readdirSync: (path) => folders.get(path) ?? [],
    lstatSync: (path) => kinds.get(path) ?? absent(path),
  };
}

function absent(path: string): never {
  throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
}
