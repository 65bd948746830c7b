import type { KnownStats } from '../../memo/files/known-stats.js';
import { captureOutputs } from '../../memo/output-files.js';
import { restoreOutputs } from '../../memo/restore-outputs.js';
import type { OutputFile } from '../../model/outcome.js';
import type { DiskStore } from '../../store/disk-store.js';
import type { Project } from '../../util/project.js';
import type { Execution } from '../core/execution.js';
import type { Secrets } from '../core/secrets.js';

/** Files that phases declare with `outputs`: kept after success, restored on reuse. */
export interface DeclaredFiles {
  /**
   * Restores the files that `outputs` covers; `changed` when it wrote something. It refuses any other file, and it does
   * not overwrite a person's edit.
   */
  restore(
    files: readonly OutputFile[],
    outputs: readonly string[],
  ): Promise<{ readonly changed: boolean } | { readonly failed: string }>;
  /** The execution with its files; unkeepable when one could not be kept. */
  capture(patterns: readonly string[], execution: Execution): Promise<Execution>;
}

interface DeclaredFilesOptions {
  readonly project: Project;
  readonly store: DiskStore | undefined;
  readonly stats: KnownStats;
  readonly secrets: Secrets;
  /** A dry run, which may not write; what would be restored counts as restored. */
  readonly look: boolean;
}

export function declaredFiles({ project, store, stats, secrets, look }: DeclaredFilesOptions): DeclaredFiles {
  const objection = (path: string) => (secrets.appearInFile(path) ? 'holds a secret argument' : undefined);
  return {
    restore: async (files, outputs) => {
      if (!store) return { failed: 'the cache that has its files is off' };
      const result = await restoreOutputs(files, { project, store, stats, look, outputs });
      return 'miss' in result ? { failed: result.miss } : { changed: !look && result.restored > 0 };
    },
    capture: async (patterns, execution) => {
      if (!store) return execution;
      const captured = await captureOutputs(patterns, { project, store, ...(secrets.any && { objection }) });
      if ('failed' in captured) return { ...execution, unkeepable: execution.unkeepable ?? captured.failed };
      return { ...execution, files: captured.files };
    },
  };
}
