import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Failure } from '../../model/failure.js';
import { askGit, type GitAnswer, withoutLocation } from '../../process/git.js';
import { oneAtATime } from '../../util/one-at-a-time.js';
import { delay } from '../../util/timer.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Entered } from './entered.js';

const STATUS = ['status', '--porcelain=v2', '--branch', '--untracked-files=normal', '--ignore-submodules=none'];

/** A fresh checkout of HEAD; removed if nothing changed in it, else kept and named. */
export async function enterWorktree(at: PhaseContext): Promise<Entered | { failure: Failure }> {
  const { root, env } = at.run.options.project;
  const parent = mkdtempSync(join(tmpdir(), 'taskflow-worktree-'));
  const path = join(parent, 'tree');
  const git = (cwd: string, ...args: string[]) =>
    askGit(args, { cwd, env: cwd === root ? env : withoutLocation(env), mayFetch: true });
  const made = await addWorktree(() => git(root, 'worktree', 'add', '--detach', path, 'HEAD'));
  const head = 'failed' in made ? made : await git(path, 'rev-parse', 'HEAD');
  if ('failed' in head) {
    rmSync(parent, { recursive: true, force: true });
    return { failure: noWorktree(head.failed) };
  }
  return {
    path,
    leave: async () => {
      const status = await git(path, ...STATUS);
      if (!isUntouched(status, head.stdout.trim())) {
        // A line of a phase may be cut; where somebody's changes are must not be.
        at.run.io.warn(`${at.path}: its changes are kept in the worktree ${path}`);
        return `changes kept in worktree ${path}`;
      }
      await inTurn(() => git(root, 'worktree', 'remove', '--force', path));
      rmSync(parent, { recursive: true, force: true });
      return undefined;
    },
  };
}

function noWorktree(reason: string): Failure {
  return {
    code: 'io',
    message: `no git worktree could be made: ${reason}`,
    hint: 'cwd: worktree needs a git repository with at least one commit.',
  };
}

function isUntouched(status: GitAnswer, head: string): boolean {
  if ('failed' in status) return false;
  const lines = status.stdout.split('\n').filter(Boolean);
  return lines.includes(`# branch.oid ${head}`) && lines.every((line) => line.startsWith('# '));
}

/** Git looks at all worktrees when it makes one, and fails when another one is just being made or removed. */
const inTurn = oneAtATime();
const TRIES = 5;
const PAUSE_MS = 50;

/** Whoever else works in this repository is not in our queue. */
async function addWorktree(add: () => Promise<GitAnswer>): Promise<GitAnswer> {
  for (let attempt = 1; ; attempt += 1) {
    const made = await inTurn(add);
    const isInTheWay = 'failed' in made && made.failed.includes('/worktrees/');
    if (!isInTheWay || attempt === TRIES) return made;
    await delay(PAUSE_MS * attempt);
  }
}
