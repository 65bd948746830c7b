import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Config, RunnerConfig } from '../model/config.js';
import { namesIn } from '../util/if-there.js';
import { type Project, STATE_DIR } from '../util/project.js';
import { statIfThere } from '../util/stat.js';
import { makeTemporaryFolder } from '../util/temporary-folder.js';

/** A copy of a project in which a flow is tried, so that nothing it does reaches the project. */
interface Sandbox {
  readonly project: Project;
  readonly config: Config;
  /** The project was too large to be copied: only its settings, agents and flows are there. */
  readonly isBare: boolean;
  remove(): void;
}

const MOST_FILES = 5_000;
const MOST_BYTES = 64 * 1024 * 1024;
const LEFT_OUT = new Set(['.git', 'node_modules']);

/** Throws only when there is no temporary folder to be had. */
export function makeSandbox(project: Project, config: Config, files: Readonly<Record<string, string>> = {}): Sandbox {
  const root = realpathSync(makeTemporaryFolder('assemble'));
  const remove = () => rmSync(root, { recursive: true, force: true });
  try {
    const isBare = !copyTree(project.root, root);
    if (isBare) copyTree(join(project.root, '.pi'), join(root, '.pi'));
    mkdirSync(join(root, STATE_DIR), { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return { project: { ...project, root }, config: elsewhere(config, project.root), isBare, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** False when it is too large; the partial copy is then removed. Links are left out, because they lead elsewhere. */
function copyTree(from: string, to: string): boolean {
  const tally = { files: 0, bytes: 0 };
  const isCopied = copyFolder(from, to, tally);
  if (!isCopied) for (const name of readdirSync(to)) rmSync(join(to, name), { recursive: true, force: true });
  return isCopied;
}

function copyFolder(from: string, to: string, tally: { files: number; bytes: number }): boolean {
  const isState = from.endsWith(`/${STATE_DIR}`);
  mkdirSync(to, { recursive: true });
  for (const name of namesIn(from)) {
    const path = join(from, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) {
      // Our own folder holds flows and settings, but also runs, kept results and plans, which are not copied.
      if (LEFT_OUT.has(name) || isState) continue;
      if (!copyFolder(path, join(to, name), tally)) return false;
    } else if (stat?.isFile()) {
      tally.files += 1;
      tally.bytes += stat.size;
      if (tally.files > MOST_FILES || tally.bytes > MOST_BYTES) return false;
      copyIfReadable(path, join(to, name));
    }
  }
  return true;
}

function copyIfReadable(from: string, to: string): void {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Removed meanwhile, or not readable. Anything else, such as a full disk, is an error.
    if (code !== 'ENOENT' && code !== 'EACCES') throw error;
  }
}

/**
 * The settings for the copy: programs with a path from the project root stay those of the project. Without hooks, which
 * are side effects.
 */
function elsewhere({ hooks: _hooks, ...config }: Config, root: string): Config {
  const runners = Object.entries(config.runners).map(
    ([name, runner]) => [name, withRealProgram(runner, root)] as const,
  );
  return { ...config, runners: Object.fromEntries(runners) };
}

function withRealProgram(runner: RunnerConfig, root: string): RunnerConfig {
  if (!runner.command) return runner;
  const command = runner.command.map((word) => {
    if (!word.includes('/') || isAbsolute(word)) return word;
    const path = resolve(root, word);
    return statIfThere(path)?.isFile() ? path : word;
  });
  return { ...runner, command };
}
