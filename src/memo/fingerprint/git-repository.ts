import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';

export interface GitRepository {
  /** The folder that holds `.git`. */
  readonly top: string;
  /** Of this worktree: HEAD is here. */
  readonly gitDir: string;
  /** Shared by all worktrees: branches and tags are here. */
  readonly commonDir: string;
}

/** `unusual`: there is one, and git itself has to say what is in it. `none`: there is none, and git need not be asked. */
export function findRepository(project: Project, from = project.root): GitRepository | 'unusual' | 'none' {
  if (project.env['GIT_DIR'] !== undefined || project.env['GIT_COMMON_DIR'] !== undefined) return 'unusual';
  for (let folder = from; ; folder = dirname(folder)) {
    const dotGit = join(folder, '.git');
    const stat = statIfThere(dotGit);
    if (stat?.isDirectory()) return describeRepository(folder, dotGit);
    if (stat?.isFile()) {
      const target = /^gitdir: (.+?)\r?\n?$/.exec(readText(dotGit) ?? '')?.[1];
      return target === undefined ? 'unusual' : describeRepository(folder, resolve(folder, target));
    }
    if (dirname(folder) === folder) return 'none';
  }
}

function describeRepository(top: string, gitDir: string): GitRepository | 'unusual' {
  const common = readText(join(gitDir, 'commondir'))?.trim();
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common);
  // Another way of keeping refs (reftable): only git reads it.
  if (statIfThere(join(commonDir, 'reftable')) || !statIfThere(join(commonDir, 'refs'))) return 'unusual';
  return { top, gitDir, commonDir };
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * The commit of HEAD or of a branch, read from git's own files; undefined when git has to be asked (tags, revisions,
 * names that could mean two things, anything that looks unusual).
 */
export function readCommit(repository: GitRepository, name: string): string | undefined {
  if (name === 'HEAD') return follow(repository, 'HEAD', 0);
  if (!/^[A-Za-z0-9][A-Za-z0-9_./-]*$/.test(name) || name.includes('..') || name.endsWith('.lock')) return undefined;
  // Git prefers these to a branch of the same name, and a tag need not be a commit.
  if ([name, `refs/${name}`, `refs/tags/${name}`].some((other) => hasRef(repository, other))) return undefined;
  for (const full of [`refs/heads/${name}`, `refs/remotes/${name}`]) {
    const commit = follow(repository, full, 0);
    if (commit !== undefined) return commit;
  }
  return undefined;
}

function follow(repository: GitRepository, ref: string, depth: number): string | undefined {
  const folder = ref === 'HEAD' ? repository.gitDir : repository.commonDir;
  const text = readText(join(folder, ref))?.trim() ?? packedRef(repository, ref);
  if (text === undefined || COMMIT.test(text)) return text;
  const target = /^ref: (refs\/\S+)$/.exec(text)?.[1];
  if (target === undefined || target.includes('..') || depth > 5) return undefined;
  // A worktree keeps these to itself.
  if (/^refs\/(?:bisect|worktree|rewritten)\//.test(target)) return undefined;
  return follow(repository, target, depth + 1);
}

function hasRef(repository: GitRepository, ref: string): boolean {
  if (statIfThere(join(repository.gitDir, ref)) || statIfThere(join(repository.commonDir, ref))) return true;
  return packedRef(repository, ref) !== undefined;
}

function packedRef({ commonDir }: GitRepository, ref: string): string | undefined {
  if (!ref.startsWith('refs/')) return undefined;
  const packed = readText(join(commonDir, 'packed-refs')) ?? '';
  const end = packed.indexOf(` ${ref}\n`);
  if (end < 0) return undefined;
  return packed.slice(packed.lastIndexOf('\n', end) + 1, end);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not there, or a folder (a branch named like the beginning of another).
    return undefined;
  }
}
