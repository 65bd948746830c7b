import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { Failure } from '../../model/failure.js';
import type { ProcessResult } from '../../process/process.js';
import { oneAtATime } from '../../util/one-at-a-time.js';
import { delay } from '../../util/timer.js';
import type { RunContext } from '../context/context.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Variables } from '../core/scope.js';
import { render } from '../render/render.js';

/** Where a unit starts. `name` goes into the identity: the same project elsewhere has the same one. */
export interface Workdir {
  readonly name: string;
  /** Makes the folder if it must be made; called just before the execution. */
  enter(): Promise<Entered | { readonly failure: Failure }>;
}

export interface Entered {
  readonly path: string;
  /** Cleans up; may leave a remark for the result. */
  leave(): Promise<string | undefined>;
}

const nothingToLeave = async () => undefined;

export function workdirOf(
  at: PhaseContext,
  cwd: string | undefined,
  unit: string | undefined,
  variables?: Variables,
): Workdir | { readonly failure: Failure } {
  if (cwd === undefined) return rootOf(at.run);
  const { root } = at.run.options.project;
  if (cwd === 'temp') return { name: 'temp', enter: enterTemporary };
  if (cwd === 'dedicated') return { name: 'dedicated', enter: async () => enterDedicated(at, unit) };
  if (cwd === 'worktree') return { name: 'worktree', enter: () => enterWorktree(at) };
  const folder = resolve(root, render(at, cwd, variables).text);
  const name = relative(root, folder) || '.';
  if (name.startsWith('..') || isAbsolute(name)) return { failure: outside(cwd) };
  return { name, enter: async () => enterFolder(root, folder, cwd) };
}

/** Where most units start: one for all of a run. */
function rootOf(run: RunContext): Workdir {
  const known = roots.get(run);
  if (known) return known;
  const entered = Promise.resolve({ path: run.options.project.root, leave: nothingToLeave });
  const root: Workdir = { name: '.', enter: () => entered };
  roots.set(run, root);
  return root;
}

const roots = new WeakMap<RunContext, Workdir>();

function outside(cwd: string): Failure {
  return {
    code: 'bad-input',
    message: `cwd ${JSON.stringify(cwd)} leaves the project`,
    hint: 'Name a folder inside the project, or temp, dedicated or worktree.',
  };
}

function enterFolder(root: string, folder: string, cwd: string): Entered | { failure: Failure } {
  try {
    const real = realpathSync(folder);
    const inside = relative(realpathSync(root), real);
    if (inside.startsWith('..') || isAbsolute(inside)) return { failure: outside(cwd) };
    if (!statSync(real).isDirectory()) return { failure: { code: 'bad-input', message: `cwd ${cwd} is not a folder` } };
    return { path: folder, leave: nothingToLeave };
  } catch {
    return {
      failure: {
        code: 'bad-input',
        message: `cwd ${cwd} does not exist`,
        hint: 'Make the folder, or let an earlier phase make it.',
      },
    };
  }
}

async function enterTemporary(): Promise<Entered | { failure: Failure }> {
  try {
    const path = mkdtempSync(join(tmpdir(), 'taskflow-'));
    return {
      path,
      leave: async () => {
        rmSync(path, { recursive: true, force: true, maxRetries: 3 });
        return undefined;
      },
    };
  } catch (error) {
    return { failure: { code: 'io', message: `no temporary folder: ${(error as Error).message}` } };
  }
}

/** One per run and phase (and item), kept with the run. */
function enterDedicated(at: PhaseContext, unit: string | undefined): Entered | { failure: Failure } {
  const safe = `${at.path}${unit === undefined ? '' : `/${unit}`}`.replaceAll(/[^\w./-]/g, '_').replaceAll('..', '_');
  const path = join(at.run.runDir, 'work', safe);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return { path, leave: nothingToLeave };
  } catch (error) {
    return { failure: { code: 'io', message: `the phase's folder cannot be made: ${(error as Error).message}` } };
  }
}

/** A fresh checkout of HEAD; removed if nothing changed in it, else kept and named. */
async function enterWorktree(at: PhaseContext): Promise<Entered | { failure: Failure }> {
  const { project } = at.run.options;
  const { runProcess } = await import('../../process/run-process.js');
  const parent = mkdtempSync(join(tmpdir(), 'taskflow-worktree-'));
  const path = join(parent, 'tree');
  const git = (cwd: string, ...args: string[]) =>
    runProcess({ argv: ['git', ...args], cwd, env: project.env, timeoutMs: 120_000 });
  const made = await addWorktree(() => git(project.root, 'worktree', 'add', '--detach', path, 'HEAD'));
  if (made.failure) {
    rmSync(parent, { recursive: true, force: true });
    return {
      failure: {
        code: 'io',
        message: `no git worktree could be made: ${made.stderrTail.trim().split('\n').at(-1) || made.failure.message}`,
        hint: 'cwd: worktree needs a git repository with at least one commit.',
      },
    };
  }
  const head = (await git(path, 'rev-parse', 'HEAD')).stdout.toString().trim();
  return {
    path,
    leave: async () => {
      const [status, now] = [await git(path, 'status', '--porcelain'), await git(path, 'rev-parse', 'HEAD')];
      const unchanged = !status.failure && status.stdout.length === 0 && now.stdout.toString().trim() === head;
      if (!unchanged) {
        // A line of a phase may be cut; where somebody's changes are must not be.
        at.run.warn(`${at.path}: its changes are kept in the worktree ${path}`);
        return `changes kept in worktree ${path}`;
      }
      await inTurn(() => git(project.root, 'worktree', 'remove', '--force', path));
      rmSync(parent, { recursive: true, force: true });
      return undefined;
    },
  };
}

/** Git looks at all worktrees when it makes one, and fails when another one is just being made or removed. */
const inTurn = oneAtATime();
const TRIES = 5;
const PAUSE_MS = 50;

/** Whoever else works in this repository is not in our queue. */
async function addWorktree(add: () => Promise<ProcessResult>): Promise<ProcessResult> {
  for (let attempt = 1; ; attempt += 1) {
    const made = await inTurn(add);
    const isInTheWay = made.failure !== undefined && made.stderrTail.includes('/worktrees/');
    if (!isInTheWay || attempt === TRIES) return made;
    await delay(PAUSE_MS * attempt);
  }
}
