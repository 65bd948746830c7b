import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownFiles } from '../../memo/files/written-files.js';
import { sha256Hex } from '../../util/digest.js';
import { namesIn, parsedJson, textIfThere } from '../../util/if-there.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import type { RunHead } from './run-head.js';
import { runFolder } from './runs-folder.js';

/** The kernel stamps files with the time of its last tick, which lies up to this long before the time a clock shows. */
const TICK_MS = 10;
const ENDED = 'ended';
const ENVIRONMENT = 'environment';

/** Waits out the tick in which the last process may have written, so that its files are older than the end. */
export function letTickPass(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, TICK_MS));
}

/** Variables that differ in every terminal and decide nothing. */
const OF_SESSION = new RegExp(
  `^(${[
    '_|PWD|OLDPWD|SHLVL|HISTFILE|COLUMNS|LINES|TERM.*|COLORTERM|COLOR|WINDOWID|DISPLAY|WAYLAND_DISPLAY',
    'TMUX.*|STY|SSH_.*|GPG_.*|DBUS_.*|XDG_(SESSION|RUNTIME).*|VSCODE_.*|ITERM_.*',
    'npm_.*|INIT_CWD|NODE|TASKFLOW_RUN',
  ].join('|')})$`,
);

interface RunEnvironment {
  readonly salt: string;
  readonly values: Readonly<Record<string, string>>;
  readonly prints?: Project['prints'];
}

/** Records the environment that the run began in, by salted digests, and the files that it prints to. */
export function stampStart(project: Project, runId: string): void {
  const salt = randomBytes(16).toString('hex');
  const { prints } = project;
  write(stampFile(project, runId, ENVIRONMENT), { salt, values: digests(project, salt), prints } as RunEnvironment);
}

/** Files that the run printed to: it says its last words after its end. */
export function printsOf(project: Project, runId: string): Project['prints'] {
  const prints = environmentOf(project, runId)?.prints;
  return Array.isArray(prints) ? prints : [];
}

function environmentOf(project: Project, runId: string): RunEnvironment | undefined {
  return parsedJson(textIfThere(stampFile(project, runId, ENVIRONMENT)) ?? '') as RunEnvironment | undefined;
}

/** The first variable that changed since the run began; undefined when none did, or the run recorded none. */
export function changedVariable(project: Project, runId: string): string | undefined {
  const then = environmentOf(project, runId);
  if (!then || typeof then.salt !== 'string' || typeof then.values !== 'object') return undefined;
  const now = digests(project, then.salt);
  return [...new Set([...Object.keys(then.values), ...Object.keys(now)])].find(
    (name) => then.values[name] !== now[name],
  );
}

/** One digest of all that `stampStart` keeps. */
export function environmentDigest({ env }: Project, salt: string): string {
  const values = lastingNames(env).map((name) => [name, env[name]]);
  return sha256Hex(salt + JSON.stringify(values));
}

function lastingNames(env: Project['env']): string[] {
  return Object.keys(env)
    .filter((name) => env[name] !== undefined && !OF_SESSION.test(name))
    .sort();
}

function digests({ env }: Project, salt: string): Record<string, string> {
  return Object.fromEntries(lastingNames(env).map((name) => [name, sha256Hex(salt + env[name]).slice(0, 32)]));
}

/** A batch can write into as many as it has rows. */
const MOST_FOLDERS = 100;

/**
 * Marks the end of a run on the clock by which files are compared with it, with the names in folders where editors and
 * taskflow itself make files: the project's own, that of the flow, and those with reports.
 */
export function stampEnd(project: Project, runId: string, flowFile: string | undefined): void {
  const written = [...(flowFile === undefined ? [] : [flowFile]), ...ownFiles(project).keys()];
  const folders = new Set(['.', ...written.map((file) => dirname(file)).slice(0, MOST_FOLDERS)]);
  const names = [...folders].map((folder) => [folder, namesIn(join(project.root, folder))]);
  write(stampFile(project, runId, ENDED), Object.fromEntries(names));
}

/** The names that these folders had when the run ended. */
export function namesAtEnd(project: Project, runId: string): ReadonlyMap<string, readonly string[]> {
  const written = parsedJson(textIfThere(stampFile(project, runId, ENDED)) ?? '');
  const names = new Map<string, readonly string[]>();
  if (typeof written !== 'object' || written === null || Array.isArray(written)) return names;
  for (const [folder, list] of Object.entries(written)) {
    if (Array.isArray(list) && list.length > 0) names.set(join(project.root, folder), list);
  }
  return names;
}

export function isOfEditor(name: string, flow: string): boolean {
  if (name === '4913' || name === `${flow}~` || name === `#${flow}#` || name === `.#${flow}`) return true;
  return name.startsWith(`.${flow}.sw`);
}

/** A file with this time or a later one was written after the run had ended. */
export function endOnFileClock(project: Project, { runId, state, endedAt }: RunHead): number {
  // The journal of a run that was killed is itself stamped by the kernel.
  if (state === 'crashed') return endedAt;
  // A run of another version wrote no stamp: its journal's clock decides.
  return statIfThere(stampFile(project, runId, ENDED))?.mtimeMs ?? endedAt - TICK_MS;
}

function stampFile(project: Project, runId: string, name: string): string {
  return join(runFolder(project, runId), name);
}

function write(path: string, value: unknown): void {
  try {
    writeFileSync(path, JSON.stringify(value), { mode: 0o600 });
  } catch {
    // Without it, what cannot be compared counts as changed or as unknown; the run itself goes on.
  }
}
