import { journalOf } from '../../run/history/runs-folder.js';
import { oneAtATime } from '../../util/one-at-a-time.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import { nextTurn } from '../../util/timer.js';
import { type ReadOptions, type ReadRun, RunReader } from '../view/read-run.js';

/** Reading a long journal yields to other requests after this time. */
const SLICE_MS = 25;
/** Runs in memory, with their texts. */
const MOST = 3;

/** Keeps the runs that are shown, so that a growing journal is not read anew for each change. */
export class ShownRuns {
  readonly #project: Project;
  readonly #options: ReadOptions;
  readonly #readers = new Map<string, RunReader>();
  /** One journal at a time is read. */
  readonly #inTurn = oneAtATime();

  constructor(project: Project, options: ReadOptions = {}) {
    this.#project = project;
    this.#options = options;
  }

  /** As it is now; undefined when there is no such run. */
  get(runId: string): Promise<ReadRun | undefined> {
    return this.#inTurn(() => this.#read(runId));
  }

  async #read(runId: string): Promise<ReadRun | undefined> {
    const size = statIfThere(journalOf(this.#project, runId))?.size;
    const known = this.#readers.get(runId);
    this.#readers.delete(runId);
    // A shorter journal is another journal.
    const isAnother = size === undefined || (known !== undefined && size < known.offset);
    const reader = isAnother ? undefined : known;
    const opened = reader ?? RunReader.open(this.#project, runId, this.#options);
    if (!opened) return undefined;
    while (!opened.read(SLICE_MS)) await nextTurn();
    this.#readers.set(runId, opened);
    if (this.#readers.size > MOST) this.#readers.delete(this.#readers.keys().next().value!);
    return opened.run();
  }
}
