import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Failure } from '../../model/failure.js';
import { isCwdWord } from '../../model/names.js';
import { isInside, relativePath } from '../../util/inside.js';
import type { RunContext } from '../context/context.js';
import type { PhaseContext } from '../context/phase-context.js';
import type { Variables } from '../core/scope.js';
import { render } from '../render/render.js';
import type { Entered } from './entered.js';
import { enterWorktree } from './worktree.js';

/** Where a unit starts. `name` goes into the identity: the same project elsewhere has the same one. */
export interface Workdir {
  readonly name: string;
  /** Makes the folder if it must be made; called just before the execution. */
  enter(): Entering | Promise<Entering>;
}

type Entering = Entered | { readonly failure: Failure };

/** What a unit says about where it starts; without `cwd` its phase decides. */
interface Placed {
  readonly cwd?: string;
  readonly label?: string;
  readonly variables?: Variables;
}

export function workdirOf(
  at: PhaseContext,
  { cwd = at.phase.cwd, label, variables }: Placed,
): Workdir | { readonly failure: Failure } {
  if (cwd === undefined) return rootOf(at.run);
  const { root } = at.run.options.project;
  if (cwd === 'temp') return { name: 'temp', enter: enterTemporary };
  if (cwd === 'dedicated') return { name: 'dedicated', enter: () => enterDedicated(at, label) };
  if (cwd === 'worktree') return { name: 'worktree', enter: () => enterWorktree(at) };
  const folder = resolve(root, render(at, cwd, variables).text);
  if (!isInside(root, folder)) return { failure: outside(cwd) };
  return { name: nameOf(relativePath(root, folder)), enter: () => enterFolder(root, folder, cwd) };
}

/** A folder `temp` of the project is another place than the word `temp`. */
function nameOf(path: string): string {
  return isCwdWord(path) ? `./${path}` : path;
}

/** Where most units start: one for all of a run. */
function rootOf(run: RunContext): Workdir {
  const known = roots.get(run);
  if (known) return known;
  const entered = { path: run.options.project.root };
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

function enterFolder(root: string, folder: string, cwd: string): Entering {
  try {
    const real = realpathSync(folder);
    if (!isInside(realpathSync(root), real)) return { failure: outside(cwd) };
    if (!statSync(real).isDirectory()) return { failure: { code: 'bad-input', message: `cwd ${cwd} is not a folder` } };
    return { path: folder };
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

function enterTemporary(): Entering {
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
function enterDedicated(at: PhaseContext, unit: string | undefined): Entering {
  const safe = `${at.path}${unit === undefined ? '' : `/${unit}`}`.replaceAll(/[^\w./-]/g, '_').replaceAll('..', '_');
  const path = join(at.run.runDir, 'work', safe);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return { path };
  } catch (error) {
    return { failure: { code: 'io', message: `the phase's folder cannot be made: ${(error as Error).message}` } };
  }
}
