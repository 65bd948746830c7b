import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HolderIdentity, holderState } from '../../process/process-identity.js';
import { removeIfThere } from '../../util/atomic-write.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import { journalOf, runFolder } from './runs-folder.js';

const NAME = 'alive';
const BEAT_MS = 5_000;
/** Twelve beats: a process that is only slow, or a machine under load, does not miss them all. */
const SILENT_MS = 60_000;

/**
 * Shows that a run is alive where its process cannot be seen: on another machine, in another container. Most runs end
 * before the first beat; until then their new journal shows it.
 */
export function startHeartbeat(project: Project, runId: string): () => void {
  const path = join(runFolder(project, runId), NAME);
  const timer = setInterval(() => beat(path, project.clock.now() / 1_000), BEAT_MS).unref();
  return () => {
    clearInterval(timer);
    removeIfThere(path);
  };
}

function beat(path: string, seconds: number): void {
  try {
    utimesSync(path, seconds, seconds);
  } catch {
    try {
      writeFileSync(path, '', { mode: 0o600 });
    } catch {
      // A folder that cannot be written, or was cleared: nobody can continue what is in it either.
    }
  }
}

interface OwnedRun {
  readonly runId: string;
  readonly owner: HolderIdentity;
  /** When the owner last showed that it is alive. */
  readonly since?: number;
}

/** Whether the process that owns a run is alive, as far as this machine can tell. */
export function isOwnerAlive(project: Project, { runId, owner, since }: OwnedRun): boolean {
  const state = holderState(owner);
  if (state !== 'unknown') return state === 'alive';
  const folder = runFolder(project, runId);
  const signs = [join(folder, NAME), journalOf(project, runId)].map((path) => statIfThere(path)?.mtimeMs ?? 0);
  return project.clock.now() - Math.max(since ?? 0, ...signs) < SILENT_MS;
}
