import { readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { canonicalEncode } from '../../util/canonical.js';
import { sha256Hex } from '../../util/digest.js';
import { STATE_DIR } from '../../util/project.js';
import { lstatIfThere } from '../../util/stat.js';
import { userCacheDir } from '../../util/user-cache.js';
import { FoundFiles } from '../files/found-files.js';
import { compileGlobs } from '../files/glob-pattern.js';
import { digestFiles } from './file-digests.js';
import { OUTSIDE_REPOSITORY } from './git-ref.js';
import { findRepository } from './git-repository.js';
import { type GitStatus, parseStatus } from './git-status.js';
import type { Source, SourceContext, SourceResult } from './source.js';
import { partsOf, readTable, tableName, writeTable } from './stat-table.js';
import type { Fingerprint } from './syntax.js';

/** HEAD, and the content of everything that is not as in HEAD: edited, staged, deleted, untracked; not what is ignored. */
export const resolveGitWorktree: Source<Fingerprint & { source: 'git-worktree' }> = async (_what, options, context) => {
  const { project, stateDir } = context;
  const repository = findRepository(project);
  if (repository === 'none') return { value: '', warning: OUTSIDE_REPOSITORY };
  const top = repository === 'unusual' ? await askTop(context) : repository.top;
  if (typeof top !== 'string') return top;
  const own = await compileGlobs(options.ownOutputs);
  const ours = [stateDir, userCacheDir(project.env, project.home)].map((folder) => relative(project.root, folder));
  const state = [`${STATE_DIR}/cache`, `${STATE_DIR}/runs`, ...ours];
  const counts = (path: string) => {
    const seen = relative(project.root, path);
    return !own(seen) && !state.some((folder) => seen === folder || seen.startsWith(`${folder}/`));
  };
  return describeTree(top, counts, context);
};

async function describeTree(
  top: string,
  counts: (path: string) => boolean,
  context: SourceContext,
): Promise<SourceResult> {
  const status = await askStatus(top, context);
  if ('failed' in status) return status;
  const paths = [...new Set(status.paths)].filter((path) => counts(join(top, path))).sort();
  const changes = await describeChanges(top, paths, context);
  if ('failed' in changes) return changes;
  const parts: Record<string, string> = changes.parts;
  for (const nested of [...status.repositories].sort()) {
    if (!counts(join(top, nested))) continue;
    const inner = await describeTree(join(top, nested), counts, context);
    if ('failed' in inner) return { failed: `${nested}: ${inner.failed}` };
    parts[nested] = sha256Hex(canonicalEncode(inner.value));
    for (const [path, digest] of Object.entries(inner.parts ?? {})) parts[`${nested}/${path}`] = digest;
  }
  const clean = Object.keys(parts).length === 0;
  return { value: { head: status.head, changes: clean ? '' : sha256Hex(canonicalEncode(parts)) }, parts };
}

/** What settings and speed-ups of git could hide from it is asked for, or switched off. */
const TRUTHFUL = [
  '--no-optional-locks',
  ...['core.fsmonitor=false', 'core.untrackedCache=false', 'core.trustctime=true', 'core.checkStat=default'].flatMap(
    (setting) => ['-c', setting],
  ),
];
const STATUS = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=all', '--ignore-submodules=none'];

async function askStatus(top: string, { exec }: SourceContext): Promise<GitStatus | { failed: string }> {
  const [answer, marks] = await Promise.all([
    exec(['git', ...TRUTHFUL, ...STATUS, '--no-renames'], top),
    // Files that git was told to believe unchanged: it does not look at them, so we do.
    exec(['git', ...TRUTHFUL, 'ls-files', '-v', '-z'], top),
  ]);
  for (const result of [answer, marks]) {
    if ('failed' in result) return { failed: `git failed: ${result.failed}` };
    if (result.exitCode !== 0)
      return { failed: `git failed: ${result.stderrTail?.trim() || `status ${result.exitCode}`}` };
  }
  if ('failed' in answer || 'failed' in marks) return { failed: 'git failed' };
  const status = parseStatus(answer.stdout);
  if (status === undefined) return { failed: 'git status said something unexpected' };
  return { ...status, paths: [...status.paths, ...hiddenPaths(top, marks.stdout)] };
}

/** Of a sparse checkout, only what is there in spite of it: the rest is as absent as it should be. */
function hiddenPaths(top: string, marks: Buffer): string[] {
  const lines = marks.toString('utf8').split('\0');
  const isThere = (line: string) => lstatIfThere(join(top, line.slice(2))) !== undefined;
  const hidden = lines.filter((line) => /^[a-z] /.test(line) || (line.startsWith('S ') && isThere(line)));
  return hidden.map((line) => line.slice(2));
}

/** Each changed path with its content digest; the bit that makes it a program counts too. */
async function describeChanges(
  top: string,
  paths: readonly string[],
  { project }: SourceContext,
): Promise<{ parts: Record<string, string> } | { failed: string }> {
  const parts: Record<string, string> = {};
  const files = new FoundFiles();
  const programs: string[] = [];
  for (const path of paths) {
    if (path.includes('\ufffd')) return { failed: `the name of ${path} is not UTF-8` };
    const stat = lstatIfThere(join(top, path));
    if (stat?.isFile()) {
      files.file(path, stat);
      if (stat.mode & 0o100) programs.push(path);
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
    figures: files.figures,
  });
  if ('vanished' in digested) return { failed: `${digested.vanished} was removed meanwhile` };
  if ('failed' in digested) return digested;
  if (digested.table !== known && files.paths.length > 0) writeTable(project, name, digested.table);
  Object.assign(parts, partsOf(digested.table));
  for (const path of programs) parts[path] += ' executable';
  return { parts };
}

async function askTop({ exec, project }: SourceContext): Promise<string | { failed: string }> {
  const result = await exec(['git', 'rev-parse', '--show-toplevel'], project.root);
  if ('failed' in result) return { failed: `git failed: ${result.failed}` };
  if (result.exitCode !== 0) return { failed: `git failed: ${result.stderrTail?.trim() || 'no worktree'}` };
  return result.stdout.toString('utf8').replace(/\n$/, '');
}
