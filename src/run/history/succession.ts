import { linkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HolderIdentity, holderIdentity } from '../../process/process-identity.js';
import { removeIfThere } from '../../util/atomic-write.js';
import { parsedJson, textIfThere } from '../../util/if-there.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import { readLines } from '../journal/reader.js';
import { isOwnerAlive } from './heartbeat.js';
import { type RunHead, runHead } from './run-head.js';
import { isRunId, journalOf, runFolder } from './runs-folder.js';

/**
 * Which run continues a run. A claim is a file in the run's folder that never changes: `continued-by`, then
 * `continued-by.2` if the first claimant died before it had carried everything over, and so on. No claim is removed, so
 * two processes can never hold the same place. Not proper-lockfile, which takes a lock from a holder that is stopped: a
 * stopped run must keep its claim.
 */
interface RunClaim {
  readonly runId: string;
  readonly owner: HolderIdentity;
}

/** The end of a chain of runs that continue each other. */
export type Succession =
  /** The last run, and the place where it can be claimed. */
  | { readonly head: RunHead; readonly free: number }
  /** A living process is carrying its results over. */
  | { readonly claimedBy: string };

/** The newest run that continues this one (itself if none does); undefined when there is nothing to continue. */
export function latestOf(project: Project, runId: string): Succession | undefined {
  const visited = new Set<string>();
  for (let current = runId; ; ) {
    visited.add(current);
    const head = isRunId(current) ? runHead(project, current) : undefined;
    if (!head) return undefined;
    const { continues } = head.run;
    if (head.state === 'crashed' && continues !== undefined && !hasCarriedOver(project, current)) {
      // It died while it carried results over: they are still in the run that it continued.
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

/** Claims a run to continue it; false when another process was faster. */
export function claimRun(
  project: Project,
  { runId, place }: { readonly runId: string; readonly place: number },
  newRunId: string,
): boolean {
  const path = runClaimPath(project, runId, place);
  const written = `${path}.${newRunId}`;
  const claim: RunClaim = { runId: newRunId, owner: holderIdentity() };
  try {
    // A link appears with its whole content: no process ever reads half a claim.
    writeFileSync(written, `${JSON.stringify(claim)}\n`, { flag: 'wx', mode: 0o600 });
    linkSync(written, path);
    return true;
  } catch (error) {
    // A read-only folder cannot be claimed; what it holds can still be used.
    return (error as NodeJS.ErrnoException).code !== 'EEXIST';
  } finally {
    removeIfThere(written);
  }
}

/** True once another run has carried over what this one has done, or is doing so. */
export function wentOn(project: Project, runId: string): boolean {
  return !('free' in heirOf(project, runId));
}

/** The newest run that continues this one; undefined when none does. */
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
    const path = runClaimPath(project, runId, place);
    const claim = readRunClaim(path);
    if (!claim) return { free: place };
    if (hasCarriedOver(project, claim.runId)) return { heir: claim.runId };
    if (isOwnerAlive(project, { ...claim, since: statIfThere(path)?.mtimeMs })) return { pending: claim.runId };
  }
}

/** A journal with all carried results replaces that of the continued run; one that was cut short does not. */
function hasCarriedOver(project: Project, runId: string): boolean {
  if (!isRunId(runId)) return false;
  if (runHead(project, runId)?.end) return true;
  for (const { line } of readLines(journalOf(project, runId))) if (line.type === 'carried-end') return true;
  return false;
}

function readRunClaim(path: string): RunClaim | undefined {
  const text = textIfThere(path);
  // This place is free.
  if (text === undefined) return undefined;
  const claim = parsedJson(text) as RunClaim | undefined;
  // Not ours, or damaged: it names no run, so its owner counts as dead.
  return claim ?? { runId: '', owner: { ...holderIdentity(), pid: 0, startTicks: 0 } };
}

function runClaimPath(project: Project, runId: string, place: number): string {
  return join(runFolder(project, runId), place === 1 ? 'continued-by' : `continued-by.${place}`);
}
