import { randomBytes } from 'node:crypto';
import type { Dependency } from '../../check/dependencies.js';
import { strongKey } from '../../memo/identity.js';
import { entryPath } from '../../store/paths.js';
import { lstatIfThere } from '../../util/stat.js';
import type { MadePhase } from '../core/made-phase.js';
import type { RunOptions } from '../core/options.js';
import { outputBytes } from '../core/output-text.js';
import type { RunResult } from '../core/result.js';
import { environmentDigest } from '../history/end-stamp.js';
import { journalOf } from '../history/runs-folder.js';
import { readRunLine } from '../journal/reader.js';
import { isPlainPhase, isPlainRun, LARGEST_OUTPUTS } from './applies.js';
import { type Asked, type EntryStats, type SnapshotPhase, writeSnapshot } from './snapshot.js';

/** The kernel stamps files with the time of its last tick. */
const TICK_MS = 20;

interface CollectFrom {
  readonly asked: Asked;
  /** Every file that was read before the run began. */
  readonly files: readonly Dependency[];
  /** The store's folder. */
  readonly store: string;
}

/** Collects what a run reuses, and keeps it if all of it can be compared the next time. */
export class SnapshotCollector {
  readonly #made: MadePhase[] = [];
  readonly #startedAt: number;

  constructor(
    private readonly options: Pick<RunOptions, 'project' | 'config' | 'flow'>,
    private readonly from: CollectFrom,
  ) {
    this.#startedAt = options.project.clock.now();
  }

  readonly onMade = (made: MadePhase): void => {
    if (isPlainPhase(made)) this.#made.push(made);
  };

  /** Called after the run's last report, so nobody waits for it. */
  end(result: RunResult): void {
    if (isPlainRun(result) && this.#made.length === this.options.flow.phases.length) this.#keep(result);
  }

  #keep({ runId }: RunResult): void {
    const { project, config, flow } = this.options;
    const run = readRunLine(journalOf(project, runId));
    if (!run) return;
    const phases: SnapshotPhase[] = [];
    let length = 0;
    for (const made of this.#made) {
      const phase = this.#phase(made);
      length += outputBytes(made.settled.result.output);
      if (!phase || length > LARGEST_OUTPUTS) return;
      phases.push(phase);
    }
    const salt = randomBytes(16).toString('hex');
    writeSnapshot(project, this.from.asked, {
      run,
      result: flow.result,
      cache: { dir: config.cache.dir, dirFrom: config.cache.dirFrom },
      environment: { salt, digest: environmentDigest(project, salt) },
      files: this.from.files,
      phases,
    });
  }

  /** Undefined when the entry may have been replaced since the run read it. */
  #phase({ phase, settled, fingerprints, reads = [], ttlMs }: MadePhase): SnapshotPhase | undefined {
    const { result } = settled;
    const { key = '', seen } = result;
    const entry = this.#stats(seen ? strongKey(key, seen.value) : key);
    const paths = seen && this.#stats(key);
    if (!entry || (seen && !paths)) return undefined;
    const declared = fingerprints.map(({ entry, value }) => [entry, value] as const);
    const files = reads.map(([path, digest]) => [`file:${path}`, digest] as const);
    return {
      id: phase.id,
      kind: phase.kind,
      result: { ...result, key },
      ttlMs,
      entry,
      inputs: [...declared, ...files],
      paths,
    };
  }

  #stats(key: string): EntryStats | undefined {
    const stat = lstatIfThere(entryPath(this.from.store, key));
    if (!stat?.isFile() || stat.ctimeMs + TICK_MS > this.#startedAt) return undefined;
    return [stat.ino, stat.size, stat.ctimeMs];
  }
}
