import { unchanged } from '../../check/dependencies.js';
import type { Resolution } from '../../memo/fingerprint/source.js';
import { strongKey } from '../../memo/identity.js';
import { ObservedFiles, stateOf } from '../../memo/observed/observed-files.js';
import type { JsonValue } from '../../model/json.js';
import { isLogLong } from '../../store/index-log.js';
import { entryPath } from '../../store/paths.js';
import { ageProblem } from '../../store/read-entry.js';
import { storeFolder } from '../../store/store-folder.js';
import { canonicalEncode } from '../../util/canonical.js';
import type { Project } from '../../util/project.js';
import { lstatIfThere } from '../../util/stat.js';
import { openWorld } from '../context/world.js';
import { environmentDigest } from '../history/end-stamp.js';
import { lastRunId } from '../history/runs-folder.js';
import { latestOf } from '../history/succession.js';
import type { EntryStats, Snapshot, SnapshotPhase } from './snapshot.js';

/**
 * Compares every input of the run with what is there now. Returns the folder of the store that has its results;
 * undefined where the snapshot is stale, or in doubt.
 */
export async function freshStore(snapshot: Snapshot, project: Project): Promise<string | undefined> {
  const { environment, files, cache, phases } = snapshot;
  if (environmentDigest(project, environment.salt) !== environment.digest) return undefined;
  if (!unchanged(files) || !isFinished(snapshot, project)) return undefined;
  const folder = storeFolder(project, { cache });
  // A run that uses the engine folds a long log into the index.
  if ('problem' in folder || isLogLong(folder.dir)) return undefined;
  const { fingerprints, stats } = openWorld(project, folder.dir, { runCommands: false });
  const observed = new ObservedFiles({ project, stats, touches: () => fingerprints.touches });
  for (const { inputs, result } of phases) {
    const { seen } = result;
    if (seen && stateOf(seen.set, await observed.look(seen.set)) !== seen.value) return undefined;
    for (const [entry, value] of inputs) {
      const pending = fingerprints.resolve(entry, { ownOutputs: [] });
      if (!hasValue(pending instanceof Promise ? await pending : pending, value)) return undefined;
    }
  }
  const now = project.clock.now();
  if (!phases.every((phase) => hasSameEntry(phase, folder.dir, now))) return undefined;
  stats.flush();
  return folder.dir;
}

/** The last run of this flow with these arguments ended well, and no run continues it. */
function isFinished({ run }: Snapshot, project: Project): boolean {
  const last = lastRunId(project, run.file ?? run.ref, run.argsDigest);
  const latest = last === undefined ? undefined : latestOf(project, last);
  if (!latest || !('head' in latest)) return false;
  const { runId, run: line, state, end } = latest.head;
  return runId === last && line.fileDigest === run.fileDigest && state === 'success' && !end?.partial;
}

function hasSameEntry(phase: SnapshotPhase, store: string, now: number): boolean {
  const { entry, paths, ttlMs } = phase;
  const { key, seen, madeAt: createdAt } = phase.result;
  if (!isSameFile(entryPath(store, seen ? strongKey(key, seen.value) : key), entry)) return false;
  if (paths && !isSameFile(entryPath(store, key), paths)) return false;
  return ageProblem({ createdAt }, { now, ttlMs }) === undefined;
}

function isSameFile(path: string, [ino, size, ctimeMs]: EntryStats): boolean {
  const stat = lstatIfThere(path);
  return stat?.isFile() === true && stat.ino === ino && stat.size === size && stat.ctimeMs === ctimeMs;
}

function hasValue(found: Resolution, value: JsonValue): boolean {
  if ('failed' in found || found.warning !== undefined || found.matchesNothing) return false;
  const now = found.value.value;
  return now === value || canonicalEncode(now) === canonicalEncode(value);
}
