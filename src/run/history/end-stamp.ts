import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { sha256Hex } from '../../util/digest.js';
import type { Project } from '../../util/project.js';
import type { RunHead } from './run-head.js';
import { runFolder } from './runs-folder.js';

/** The kernel stamps files with the time of its last tick, which lies up to this long before the time a clock shows. */
const TICK_MS = 10;
const ENDED = 'ended';
const ENVIRONMENT = 'environment';

/** Lets the tick pass in which the last process may have written something, so that its files are older than the end. */
export function letTickPass(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, TICK_MS));
}

/** Variables that are other ones in every terminal and decide nothing. */
const OF_SESSION =
  /^(_|PWD|OLDPWD|SHLVL|COLUMNS|LINES|TERM.*|COLORTERM|WINDOWID|TMUX.*|STY|SSH_.*|GPG_.*|DBUS_.*|XDG_(SESSION|RUNTIME).*|DISPLAY|WAYLAND_DISPLAY|VSCODE_.*|ITERM_.*|HISTFILE|npm_.*|INIT_CWD|NODE|COLOR|TASKFLOW_RUN)$/;

interface Environment {
  readonly salt: string;
  readonly values: Readonly<Record<string, string>>;
}

/** Keeps which environment the run began in, by digests that say nothing outside of this private folder. */
export function stampStart(project: Project, runId: string): void {
  const salt = randomBytes(16).toString('hex');
  write(project, runId, ENVIRONMENT, { salt, values: digests(project, salt) } satisfies Environment);
}

/** The first variable that is not what it was when the run began; undefined when all are, or nobody knows. */
export function changedVariable(project: Project, runId: string): string | undefined {
  const then = read(project, runId, ENVIRONMENT) as Environment | undefined;
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

/** Marks the end of a run on the clock by which files are compared with it, with the names beside the flow. */
export function stampEnd(project: Project, runId: string, flowFile: string | undefined): void {
  write(project, runId, ENDED, flowFile === undefined ? [] : namesNow(join(project.root, flowFile)));
}

/** What stood beside the flow when the run ended; undefined where nobody knows. */
export function namesBeside(project: Project, runId: string): readonly string[] | undefined {
  const names = read(project, runId, ENDED);
  return Array.isArray(names) && names.length > 0 ? names : undefined;
}

function namesNow(flow: string): readonly string[] {
  try {
    return namesIn(readdirSync(dirname(flow)), flow);
  } catch {
    // The folder is gone: there is nothing to compare with.
    return [];
  }
}

/** Sorted, without what an editor puts beside the file that it has open. */
export function namesIn(names: readonly string[], flow: string): readonly string[] {
  return names.filter((name) => !isOfEditor(name, basename(flow))).sort();
}

export function isOfEditor(name: string, flow: string): boolean {
  if (name === '4913' || name === `${flow}~` || name === `#${flow}#` || name === `.#${flow}`) return true;
  return name.startsWith(`.${flow}.sw`);
}

/** What has this time or a later one was written after the run had ended, as far as anybody can tell. */
export function endOnFileClock(project: Project, { runId, state, endedAt }: RunHead): number {
  // The journal of a run that was killed is itself stamped by the kernel.
  if (state === 'crashed') return endedAt;
  try {
    return statSync(join(runFolder(project, runId), ENDED)).mtimeMs;
  } catch {
    // A run of another version: only our own clock can tell.
    return endedAt - TICK_MS;
  }
}

function write(project: Project, runId: string, name: string, value: unknown): void {
  try {
    writeFileSync(join(runFolder(project, runId), name), JSON.stringify(value), { mode: 0o600 });
  } catch {
    // Without it, what cannot be compared counts as changed or as unknown; the run itself goes on.
  }
}

function read(project: Project, runId: string, name: string): unknown {
  try {
    return JSON.parse(readFileSync(join(runFolder(project, runId), name), 'utf8'));
  } catch {
    // Not written, or cut short by a crash.
    return undefined;
  }
}
