import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HolderIdentity, holderIdentity } from '../../process/process-identity.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import { readLines } from '../journal/reader.js';
import { isOwnerAlive } from './heartbeat.js';
import { type RunHead, runHead } from './run-head.js';
import { isRunId, journalOf, runFolder } from './runs-folder.js';

/**
 * Who continues a run. A claim is a file in the run's folder that is made once and never changed: `continued-by`, then
 * `continued-by.2` if the first claimant died before it had taken over what there is, and so on. Nothing is removed, so
 * there is no moment at which two could take the same place. Not proper-lockfile, which takes a lock from a holder that
 * is stopped: a run that is stopped is still the one that goes on.
 */
interface Claim {
  readonly runId: string;
  readonly owner: HolderIdentity;
}

/** Where a run stands in the line of those that continue each other. */
export type Succession =
  /** It is the last one. */
  | { readonly head: RunHead; readonly free: number }
  /** A process that is alive is just taking it over. */
  | { readonly claimedBy: string };

/** The newest of the runs that go on with this one (itself if none does); undefined when there is none to go on with. */
export function latestOf(project: Project, runId: string): Succession | undefined {
  const visited = new Set<string>();
  for (let current = runId; ; ) {
    visited.add(current);
    const head = isRunId(current) ? runHead(project, current) : undefined;
    if (!head) return undefined;
    const { continues } = head.run;
    if (head.state === 'crashed' && continues !== undefined && !hasTakenOver(project, current)) {
      // It died while it took over: all that there is to go on with is still where it came from.
      if (visited.has(continues)) return undefined;
      current = continues;
      continue;
    }
    const next = heirOf(project, current);
    if ('free' in next) return { head, free: next.free };
    if ('pending' in next) return { claimedBy: next.pending };
    if (visited.has(next.heir)) return { head, free: 1 };
    current = next.heir;
  }
}

/** Takes the right to continue a run that nobody has taken; false when somebody was faster. */
export function claimRun(
  project: Project,
  { runId, place }: { readonly runId: string; readonly place: number },
  newRunId: string,
): boolean {
  const path = claimPath(project, runId, place);
  const written = `${path}.${newRunId}`;
  const claim: Claim = { runId: newRunId, owner: holderIdentity() };
  try {
    // A link appears with its content or not at all: nobody ever reads half a claim.
    writeFileSync(written, `${JSON.stringify(claim)}\n`, { flag: 'wx', mode: 0o600 });
    linkSync(written, path);
    return true;
  } catch (error) {
    // A read-only folder cannot be claimed; what it holds can still be used.
    return (error as NodeJS.ErrnoException).code !== 'EEXIST';
  } finally {
    forget(written);
  }
}

/** True once another run has taken over what this one has done. */
export function wentOn(project: Project, runId: string): boolean {
  return !('free' in heirOf(project, runId));
}

/** The newest run that goes on with this one; undefined when none does. */
export function continuedBy(project: Project, runId: string): string | undefined {
  const latest = wentOn(project, runId) ? latestOf(project, runId) : undefined;
  if (!latest) return undefined;
  return 'claimedBy' in latest ? latest.claimedBy : latest.head.runId;
}

function heirOf(
  project: Project,
  runId: string,
): { readonly heir: string } | { readonly pending: string } | { readonly free: number } {
  for (let place = 1; ; place++) {
    const path = claimPath(project, runId, place);
    const claim = readClaim(path);
    if (!claim) return { free: place };
    if (hasTakenOver(project, claim.runId)) return { heir: claim.runId };
    if (isOwnerAlive(project, { ...claim, since: statIfThere(path)?.mtimeMs })) return { pending: claim.runId };
  }
}

/** A journal that holds all of what was carried can stand for the run it came from; one that was cut short cannot. */
function hasTakenOver(project: Project, runId: string): boolean {
  if (!isRunId(runId)) return false;
  if (runHead(project, runId)?.end) return true;
  for (const { line } of readLines(journalOf(project, runId))) if (line.type === 'carried-end') return true;
  return false;
}

function readClaim(path: string): Claim | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // Nobody has claimed this place.
    return undefined;
  }
  try {
    return JSON.parse(text) as Claim;
  } catch {
    // Not ours, or damaged: it names nobody, and nobody is alive under that name.
    return { runId: '', owner: { ...holderIdentity(), pid: 0, startTicks: 0 } };
  }
}

function claimPath(project: Project, runId: string, place: number): string {
  return join(runFolder(project, runId), place === 1 ? 'continued-by' : `continued-by.${place}`);
}

function forget(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It could not be written in the first place.
  }
}
