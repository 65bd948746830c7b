import { dirname } from 'node:path';
import { type RunHead, runHead, runJson } from '../../run/history/run-head.js';
import { journalOf, runIds } from '../../run/history/runs-folder.js';
import { continuedBy } from '../../run/history/succession.js';
import { sha256Hex } from '../../util/digest.js';
import type { Project } from '../../util/project.js';
import { statIfThere } from '../../util/stat.js';
import { countRun, type RunCounts } from './run-counts.js';

/** A run of the list. */
export interface ListedRun extends ReturnType<typeof runJson>, RunCounts {
  readonly mode: 'run' | 'batch';
  /** Where the rows of a batch come from. */
  readonly over: string | null;
  readonly rows: number | null;
  readonly continuedBy: string | null;
}

/** Bounded, because unfinished runs are kept for ever. */
const MOST_RUNS = 500;
/** Requests of many browsers within this time share one look. */
const MARK_MS = 250;

/** The runs of a project. The summary of a journal is kept until the journal changes. */
export class RunList {
  readonly #project: Project;
  readonly #known = new Map<string, { readonly stamp: string; readonly summary: ListedRun }>();

  #marked = { at: Number.NEGATIVE_INFINITY, mark: '' };

  constructor(project: Project) {
    this.#project = project;
  }

  /** The newest runs first, and the number of all. */
  read(): { readonly runs: readonly ListedRun[]; readonly total: number } {
    const ids = runIds(this.#project);
    const listed = new Set(ids.slice(0, MOST_RUNS));
    for (const runId of this.#known.keys()) if (!listed.has(runId)) this.#known.delete(runId);
    const runs = [...listed].flatMap((runId) => this.#summary(runId) ?? []);
    return { runs: runs.sort((a, b) => b.startedAt - a.startedAt), total: ids.length };
  }

  /** Differs once the list does. */
  mark(): string {
    const now = this.#project.clock.elapsed();
    if (now - this.#marked.at > MARK_MS) this.#marked = { at: now, mark: this.#newMark() };
    return this.#marked.mark;
  }

  #newMark(): string {
    const parts = this.read().runs.map(({ runId, state, waiting, continuedBy: heir }) => [runId, state, waiting, heir]);
    return sha256Hex(JSON.stringify(parts)).slice(0, 16);
  }

  #summary(runId: string): ListedRun | undefined {
    const known = this.#known.get(runId);
    const stamp = this.#stampOf(runId);
    // A running run is read again: its owner may have died, which leaves no line.
    if (known && known.stamp === stamp && known.summary.state !== 'running') return known.summary;
    const head = runHead(this.#project, runId);
    if (!head) return undefined;
    const summary = known?.stamp === stamp ? { ...known.summary, state: head.state } : this.#look(head);
    this.#known.set(runId, { stamp, summary });
    return summary;
  }

  #look(head: RunHead): ListedRun {
    const { runId, run, state } = head;
    return {
      ...runJson(head),
      mode: run.mode,
      over: run.over ?? null,
      rows: run.rows ?? null,
      continuedBy: continuedBy(this.#project, runId) ?? null,
      ...countRun(journalOf(this.#project, runId), state === 'running'),
    };
  }

  /** Includes the folder, which changes when another run claims this one. */
  #stampOf(runId: string): string {
    const journal = journalOf(this.#project, runId);
    const [file, folder] = [statIfThere(journal), statIfThere(dirname(journal))];
    return [file?.size, file?.mtimeMs, folder?.mtimeMs].join(' ');
  }
}
