import { readlinkSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { withoutLocation } from '../../process/git.js';
import { isTemporary } from '../../util/atomic-write.js';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import { isPrintedTo, STATE_DIR } from '../../util/project.js';
import { lstatIfThere } from '../../util/stat.js';
import { userCacheDir } from '../../util/user-cache.js';
import { FoundFiles } from '../files/found-files.js';
import { selectPaths } from '../files/select-paths.js';
import { partsOf, readTable, tableName, writeTable } from '../files/stat-table.js';
import { ownFiles } from '../files/written-files.js';
import { digestFiles } from './file-digests.js';
import { withoutOwnFilters } from './git-filters.js';
import { type GitIndex, readIndex } from './git-index.js';
import { ask, isInRepository, OUTSIDE_REPOSITORY } from './git-repository.js';
import { type GitStatus, parseStatus } from './git-status.js';
import type { FingerprintSource, SourceContext, SourceOptions, SourceResult } from './source.js';
import type { Fingerprint } from './syntax.js';

/** HEAD, and the content of all that differs from it: edited, staged, deleted, untracked; not what is ignored. */
export const resolveGitWorktree: FingerprintSource<Fingerprint & { source: 'git-worktree' }> = (
  _what,
  options,
  context,
) => {
  if (!isInRepository(context.project)) return { value: '', warning: OUTSIDE_REPOSITORY };
  return describeTree(context.project.root, options, context);
};

/** Describes the repository that the folder is in. */
async function describeTree(folder: string, options: SourceOptions, context: SourceContext): Promise<SourceResult> {
  const filters = await withoutOwnFilters(folder, context);
  if ('failed' in filters) return filters;
  const status = await askStatus(folder, filters.settings, context);
  if ('failed' in status) return status;
  const { top } = status;
  const paths = await thatCount(top, [...new Set(status.paths)].sort(), { options, context });
  const changes = await describeChanges(top, paths, context);
  if ('failed' in changes) return changes;
  const { parts } = changes;
  const { project } = context;
  const inner = { ...context, project: { ...project, env: withoutLocation(project.env) } };
  for (const nested of await thatCount(top, status.repositories, { options, context })) {
    const moved = !status.unmoved.has(nested);
    if (!lstatIfThere(join(top, nested, '.git'))) {
      if (moved) parts[nested] = 'no repository';
      continue;
    }
    const tree = await describeTree(join(top, nested), options, inner);
    if ('failed' in tree) return { failed: `${nested}: ${tree.failed}` };
    const { parts: nestedParts = {} } = tree;
    if (!moved && Object.keys(nestedParts).length === 0) continue;
    parts[nested] = sha256Hex(canonicalEncode(tree.value));
    for (const [path, digest] of Object.entries(nestedParts)) parts[`${nested}/${path}`] = digest;
  }
  const clean = Object.keys(parts).length === 0;
  return { value: { head: status.head, changes: clean ? '' : sha256Hex(canonicalEncode(parts)) }, parts };
}

/** Leaves out the phase's own outputs, taskflow's state and temporary files. */
async function thatCount(
  top: string,
  paths: readonly string[],
  { options, context }: { readonly options: SourceOptions; readonly context: SourceContext },
): Promise<string[]> {
  const { project, stateDir } = context;
  const ours = [stateDir, userCacheDir(project.env, project.home)].map((folder) => relative(project.root, folder));
  const state = [`${STATE_DIR}/cache`, `${STATE_DIR}/runs`, ...ours];
  const isState = (path: string) => state.some((folder) => path === folder || path.startsWith(`${folder}/`));
  const fromRoot = paths.map((path) => relative(project.root, join(top, path)));
  const own = await selectPaths(fromRoot, options.ownOutputs);
  return paths.filter((path, i) => !own.has(fromRoot[i]!) && !isState(fromRoot[i]!) && !isTemporary(path));
}

const STATUS = ['status', '--porcelain=v2', '--branch', '--no-ahead-behind', '-z'];
const WHOLE = ['--untracked-files=all', '--no-renames', '--ignore-submodules=dirty'];

interface WorkTree extends GitStatus {
  /** Of the repository; absolute. */
  readonly top: string;
  /** Submodules that are at their commit. Git does not enter them, where it would obey their settings, not ours. */
  readonly unmoved: ReadonlySet<string>;
}

async function askStatus(
  folder: string,
  settings: readonly string[],
  context: SourceContext,
): Promise<WorkTree | { failed: string }> {
  const [said, tree] = await Promise.all([
    ask([...settings, ...STATUS, ...WHOLE], context, folder),
    askTree(folder, context),
  ]);
  if ('failed' in said) return said;
  if ('failed' in tree) return tree;
  const { top, index } = tree;
  const status = parseStatus(said.stdout);
  if (status === undefined) return { failed: 'git status said something unexpected' };
  // Git does not look at these, so we do. In a sparse checkout a missing file is no change.
  const hidden = [...index.assumed, ...index.sparse.filter((path) => lstatIfThere(join(top, path)))];
  const unmoved = new Set(index.submodules.filter((path) => !status.repositories.includes(path)));
  const repositories = [...status.repositories, ...unmoved].sort();
  return { top, head: status.head, paths: [...status.paths, ...hidden], repositories, unmoved };
}

/** Where the repository is, and what its index hides from `git status`. */
async function askTree(
  folder: string,
  context: SourceContext,
): Promise<{ readonly top: string; readonly index: GitIndex } | { readonly failed: string }> {
  const where = await ask(
    ['rev-parse', '--show-toplevel', '--is-inside-work-tree', '--git-path', 'index'],
    context,
    folder,
  );
  if ('failed' in where) return where;
  // Paths may hold line ends, so the line `true` between them is the separator.
  const [top, file, ...more] = where.stdout.replace(/\n$/, '').split('\ntrue\n');
  if (top === undefined || file === undefined || more.length > 0)
    return { failed: 'git rev-parse said something unexpected' };
  // Only git knows what a relative path in this variable is relative to.
  const isNamed = context.project.env['GIT_INDEX_FILE'] !== undefined;
  const index = await readIndex(top, isNamed ? undefined : resolve(folder, file), context);
  return 'failed' in index ? index : { top, index };
}

/** Each changed path with its content digest and its executable bit. */
async function describeChanges(
  top: string,
  paths: readonly string[],
  { project }: SourceContext,
): Promise<{ parts: Record<string, string> } | { failed: string }> {
  // Without a prototype, a file may be called `__proto__`.
  const parts: Record<string, string> = Object.create(null);
  const files = new FoundFiles();
  const programs = new Set<string>();
  for (const path of paths) {
    if (path.includes('\ufffd')) return { failed: `the name of ${path} is not UTF-8` };
    const stat = lstatIfThere(join(top, path));
    if (stat && isPrintedTo(project, stat)) continue;
    if (stat?.isFile()) {
      files.file(path, stat);
      if (stat.mode & 0o100) programs.add(path);
    } else if (stat?.isSymbolicLink()) {
      parts[path] = sha256Hex(`link to ${readlinkSync(join(top, path))}`);
    } else {
      parts[path] = stat === undefined ? 'deleted' : 'no file';
    }
  }
  const name = tableName(canonicalEncode(['git:worktree', relative(project.root, top)]));
  const known = files.paths.length === 0 ? undefined : readTable(project, name);
  const digested = await digestFiles({
    root: top,
    clock: project.clock,
    known,
    paths: files.paths,
    stats: files.stats,
  });
  if ('vanished' in digested) return { failed: `${digested.vanished} was removed meanwhile` };
  if ('failed' in digested) return digested;
  if (digested.table !== known && files.paths.length > 0) writeTable(project, name, digested.table);
  const own = files.paths.length === 0 ? undefined : ownFiles(project);
  const isOwn = (path: string, digest: string) => own?.get(relative(project.root, join(top, path))) === digest;
  for (const [path, digest] of Object.entries(partsOf(digested.table))) {
    if (!isOwn(path, digest)) parts[path] = programs.has(path) ? `${digest} executable` : digest;
  }
  return { parts };
}
