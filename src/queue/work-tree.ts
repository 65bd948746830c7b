import { join, relative } from 'node:path';
import { parseStatus } from '../memo/fingerprint/git-status.js';
import { askGit } from '../process/git.js';
import type { Project } from '../util/project.js';
import { lstatIfThere } from '../util/stat.js';

/** The project as a commit, and what differs from it. Paths start at the project's root. */
export interface WorkTree {
  readonly commit: string;
  readonly prefix: string;
  /** Whether the file is there as the commit has it. */
  isClean(path: string): boolean;
  readonly absent: readonly string[];
}

const STATUS = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=no', '--no-renames'];
/** Phases may change files meanwhile: a unit sent with an old state gets another key there, and is done here. */
const FRESH_MS = 3_000;

/** Asks git about the project, and again a while later. */
export function watchWorkTree(project: Project): () => Promise<WorkTree | { readonly failed: string }> {
  let known: { readonly at: number; readonly tree: ReturnType<typeof readWorkTree> } | undefined;
  return () => {
    const now = project.clock.elapsed();
    if (!known || now - known.at > FRESH_MS) known = { at: now, tree: readWorkTree(project) };
    return known.tree;
  };
}

async function readWorkTree({ root: cwd, env }: Project): Promise<WorkTree | { readonly failed: string }> {
  const git = (...args: string[]) => askGit(args, { cwd, env });
  const [top, said, listed] = await Promise.all([
    git('rev-parse', '--show-toplevel', '--show-prefix'),
    git(...STATUS),
    git('ls-files', '-z'),
  ]);
  const failed = [top, said, listed].find((answer) => 'failed' in answer);
  if (failed && 'failed' in failed) return { failed: `the project is in no git repository (${failed.failed})` };
  const [folder = cwd, prefix = ''] = textOf(top).split('\n');
  const status = parseStatus(textOf(said));
  if (!status || status.head === '') return { failed: 'the project has no commit' };
  const changed = status.paths.map((path) => relative(cwd, join(folder, path)));
  const dirty = new Set(changed);
  const tracked = new Set(textOf(listed).split('\0'));
  return {
    commit: status.head,
    prefix,
    isClean: (path) => tracked.has(path) && !dirty.has(path),
    absent: changed.filter((path) => !path.startsWith('..') && !lstatIfThere(join(cwd, path))),
  };
}

function textOf(answer: Awaited<ReturnType<typeof askGit>>): string {
  return 'stdout' in answer ? answer.stdout : '';
}
