import { relative, sep } from 'node:path';
import { type RunHead, runHead } from '../../run/history/run-head.js';
import { isRunId, journalOf } from '../../run/history/runs-folder.js';
import { readLines } from '../../run/journal/reader.js';
import type { Project } from '../../util/project.js';
import { ViewBuilder } from './build-view.js';
import { Details } from './details.js';
import { MadeFromIndex } from './made-from.js';
import { TextBudget } from './text.js';
import type { Detail, RunView } from './types.js';

/** Limits for all texts of one page, in characters: of phases, of everything inside of them, and of the rest. */
const [OF_PHASES, OF_UNITS, OF_RUN] = [4_000_000, 8_000_000, 1_000_000];

export interface ReadOptions {
  /** Hides secrets: journals have none, but the settings may name more since. */
  mask?(text: string): string;
  /** False: contents are left out. By default they are read. */
  readonly outputs?: boolean;
}

export interface ReadRun {
  readonly view: RunView;
  readonly details: ReadonlyMap<string, Detail>;
  readonly madeFrom: MadeFromIndex;
}

/** A run from its journal, with the long texts as far as a page may hold them; undefined when there is no such run. */
export function readRun(project: Project, runId: string, options: ReadOptions = {}): ReadRun | undefined {
  const reader = RunReader.open(project, runId, options);
  reader?.read();
  return reader?.run();
}

/** Reads a journal that may grow: each time only what is new. */
export class RunReader {
  readonly #project: Project;
  readonly #runId: string;
  readonly #builder: ViewBuilder;
  readonly #details: Details;
  readonly #madeFrom: MadeFromIndex;
  #offset = 0;
  #carrying = false;

  /** Undefined when there is no such run. */
  static open(project: Project, runId: string, options: ReadOptions = {}): RunReader | undefined {
    const head = isRunId(runId) ? runHead(project, runId) : undefined;
    return head && new RunReader(project, head, options);
  }

  private constructor(project: Project, head: RunHead, { mask, outputs = true }: ReadOptions) {
    this.#project = project;
    this.#runId = head.runId;
    this.#madeFrom = new MadeFromIndex(journalOf(project, head.runId));
    this.#builder = new ViewBuilder(head.run, { texts: new TextBudget(OF_RUN, mask), outputs });
    this.#details = new Details({
      phases: new TextBudget(OF_PHASES, mask),
      units: new TextBudget(OF_UNITS, mask),
      outputs,
      fileName: (path) => relative(project.root, path).split(sep).join('/'),
    });
  }

  /** How much of the journal was read. */
  get offset(): number {
    return this.#offset;
  }

  /** Reads new lines, at most for this long; true at the end. */
  read(mostMs = Number.POSITIVE_INFINITY): boolean {
    const { clock } = this.#project;
    const until = clock.elapsed() + mostMs;
    for (const { line, offset, length } of readLines(journalOf(this.#project, this.#runId), this.#offset)) {
      this.#offset = offset + length;
      if (line.type === 'carried-begin' || line.type === 'carried-end') this.#carrying = line.type === 'carried-begin';
      this.#builder.add(line);
      this.#madeFrom.add(line, { offset, length }, this.#carrying);
      if (!this.#carrying) this.#details.add(line);
      if (clock.elapsed() > until) return false;
    }
    return true;
  }

  /** What was read so far; undefined when the run was removed meanwhile. */
  run(): ReadRun | undefined {
    const head = runHead(this.#project, this.#runId);
    if (!head) return undefined;
    return { view: this.#builder.view(head), details: this.#details.byName, madeFrom: this.#madeFrom };
  }
}
