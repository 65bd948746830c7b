import { KnownStats } from '../../memo/files/known-stats.js';
import { processExec } from '../../memo/fingerprint/process-exec.js';
import {
  createFingerprints,
  type FingerprintResolver,
  type FingerprintsOptions,
} from '../../memo/fingerprint/resolver.js';
import type { Project } from '../../util/project.js';

/** What phases declare about the outside. Opened before its run where something of it has to be known before. */
export interface World {
  readonly fingerprints: FingerprintResolver;
  readonly stats: KnownStats;
  /** Programs that are asked are ended with the run. */
  endWith(signal: AbortSignal): void;
}

export function openWorld(
  project: Project,
  storeDir: string,
  { runCommands = true }: Pick<FingerprintsOptions, 'runCommands'> = {},
): World {
  let end: AbortSignal | undefined;
  const exec = processExec({
    run: async (request) => (await import('../../process/run-process.js')).runProcess(request),
    env: project.env,
    signal: () => end,
  });
  const stats = new KnownStats(project);
  return {
    fingerprints: createFingerprints({ project, stateDir: storeDir, exec, signal: () => end, runCommands, stats }),
    stats,
    endWith: (signal) => {
      end = signal;
    },
  };
}
