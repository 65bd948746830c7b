import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeAbandoned, writeFileAtomic } from '../../util/atomic-write.js';
import { sha256Hex } from '../../util/digest.js';
import { namesIn, textIfThere } from '../../util/if-there.js';
import { type Project, STATE_DIR } from '../../util/project.js';
import { namesInFolder, statIfThere } from '../../util/stat.js';
import { outputsBeside } from '../core/output-folder.js';
import type { RunGroup } from '../core/run-group.js';

const RUN_ID = /^\d{8}-\d{6}-[0-9a-z]{6}$/;
/** Beside the runs: which run of a flow was the last one. Derived, and harmless when lost. */
const POINTERS = '.last';

export function runsFolder(project: Project): string {
  return join(project.root, STATE_DIR, 'runs');
}

/** Sorts by time, to the millisecond; says when to a person who reads it. */
export function newRunId(now: number): string {
  const date = new Date(now);
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(twoDigits).join('');
  const millisecond = (now % 1_000).toString(36).padStart(2, '0');
  const chance = Math.floor(Math.random() * 36 ** 4);
  return `${dayOf(now)}-${time}-${millisecond}${chance.toString(36).padStart(4, '0')}`;
}

/** What the ids of a day's runs begin with. By hand: a process's first `toISOString` is slow. */
export function dayOf(now: number): string {
  const date = new Date(now);
  return `${date.getUTCFullYear()}${twoDigits(date.getUTCMonth() + 1)}${twoDigits(date.getUTCDate())}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}

/** Run ids come from people and become paths. */
export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

export function runFolder(project: Project, runId: string): string {
  return join(runsFolder(project), runId);
}

export function journalOf(project: Project, runId: string): string {
  return join(runFolder(project, runId), 'journal.jsonl');
}

/** Makes the folder of a new run. A read-only project runs without: the journal says so once. */
export function makeRunFolder(project: Project, runId: string): void {
  const folder = runsFolder(project);
  try {
    if (!existsSync(folder)) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, '.gitignore'), '*\n', { mode: 0o600 });
    }
    mkdirSync(join(folder, runId), { mode: 0o700 });
  } catch {
    // The journal cannot be opened then, and its writer warns that the run cannot be continued.
  }
}

/** All runs, the newest first. */
export function runIds(project: Project): string[] {
  return namesIn(runsFolder(project)).filter(isRunId).sort().reverse();
}

/** Journal and large outputs. Of a run that is not there any more: nothing. */
export function runBytes(project: Project, runId: string): number {
  const journal = journalOf(project, runId);
  const outputs = outputsBeside(journal);
  const paths = [journal, ...namesInFolder(outputs).map((name) => join(outputs, name))];
  return paths.reduce((sum, path) => sum + (statIfThere(path)?.size ?? 0), 0);
}

export function removeRun(project: Project, runId: string): void {
  try {
    // Mostly the folder has nothing else, and a walk takes longer.
    unlinkSync(journalOf(project, runId));
    rmdirSync(runFolder(project, runId));
  } catch {
    rmSync(runFolder(project, runId), { recursive: true, force: true });
  }
}

/** What the last run of a flow (with these arguments, if given) was; undefined when none is known. */
export function lastRunId(project: Project, flow: string, argsDigest?: string): string | undefined {
  return lastRunUnder(project, pointerName(flow, argsDigest));
}

function lastRunUnder(project: Project, pointer: string): string | undefined {
  const runId = textIfThere(pointerPath(project, pointer))?.trim() ?? '';
  return isRunId(runId) && existsSync(journalOf(project, runId)) ? runId : undefined;
}

/** A batch is the last one of its rows only: what continues or explains a plain run is no batch. */
export function rememberLastRun(
  project: Project,
  { flowId, argsDigest }: RunGroup,
  { runId, mode }: { readonly runId: string; readonly mode: 'run' | 'batch' },
): void {
  const ofArguments = pointerName(flowId, argsDigest);
  pointAt(project, runId, mode === 'run' ? [pointerName(flowId, undefined), ofArguments] : [ofArguments]);
}

/** Makes this run the last one under each of the names. */
function pointAt(project: Project, runId: string, pointers: readonly string[]): void {
  const folder = join(runsFolder(project), POINTERS);
  if (!existsSync(folder)) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch {
      // As above: without a folder nothing is continued by itself.
      return;
    }
  }
  for (const pointer of pointers) writeFileAtomic(pointerPath(project, pointer), `${runId}\n`);
}

/** After `cache clear FLOW` and `runs clear` nothing of the flow is continued. */
export function forgetLastRuns(project: Project, flow?: string): void {
  for (const name of pointersOf(project, flow)) rmSync(pointerPath(project, name), { force: true });
}

/** The last runs of a flow (of all flows, if none is given): one for each set of arguments. */
export function lastRuns(project: Project, flow?: string): string[] {
  const found = pointersOf(project, flow).map((name) => lastRunUnder(project, name));
  return [...new Set(found.filter((runId) => runId !== undefined))];
}

function pointersOf(project: Project, flow: string | undefined): string[] {
  const prefix = flow === undefined ? '' : flowPart(flow);
  return namesInFolder(join(runsFolder(project), POINTERS)).filter((name) => name.startsWith(prefix));
}

/** Removes pointers to runs that are gone, once there are more than so many. Until then they do no harm. */
export function prunePointers(project: Project, most = 0): void {
  const folder = join(runsFolder(project), POINTERS);
  const names = namesInFolder(folder);
  if (names.length > 0) removeAbandoned(folder, project.clock.now());
  if (names.length <= most) return;
  try {
    for (const name of names) {
      const runId = readFileSync(join(folder, name), 'utf8').trim();
      if (!isRunId(runId) || !existsSync(runFolder(project, runId))) rmSync(join(folder, name), { force: true });
    }
  } catch {
    // Another process prunes too, or there is nothing: either way it is done.
  }
}

function pointerPath(project: Project, pointer: string): string {
  return join(runsFolder(project), POINTERS, pointer);
}

/** Under which name the last run of a flow, or the last one with these arguments, is found. */
function pointerName(flow: string, argsDigest: string | undefined): string {
  return argsDigest === undefined ? flowPart(flow) : `${flowPart(flow)}-${argsDigest.slice(0, 24)}`;
}

function flowPart(flow: string): string {
  return sha256Hex(flow).slice(0, 24);
}
