import { selectPaths } from '../../memo/files/select-paths.js';
import type { Flow } from '../../model/flow.js';
import { journalOf } from '../../run/history/runs-folder.js';
import { readLines } from '../../run/journal/reader.js';
import { anyName } from '../../run/reuse/covering-outputs.js';
import { relativePath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';

/** What a finished run did that a watch needs to know. */
interface RunTraces {
  /** Files that phases made and declared, from the project root. */
  readonly made: ReadonlySet<string>;
  /** A side effect has begun: to run again from the start would fire it again. */
  readonly acted: boolean;
}

export function tracesOf(project: Project, runId: string): RunTraces {
  const made = new Set<string>();
  let acted = false;
  for (const { line } of readLines(journalOf(project, runId))) {
    if (line.type === 'start' && !line.idempotent) acted = true;
    if (line.type !== 'phase' && line.type !== 'unit') continue;
    if (line.idempotent === false) acted = true;
    for (const { path } of line.files ?? []) made.add(path);
  }
  return { made, acted };
}

/** The globs of all files that the flow declares to write. */
export function outputGlobs(flow: Flow): string[] {
  return flow.phases.flatMap((phase) => [
    ...phase.outputs.map(anyName),
    ...('source' in phase && phase.source.from === 'inline' ? outputGlobs(phase.source.flow) : []),
  ]);
}

/** The paths, of those that changed during a run, that the flow does not declare to write. */
export async function notDeclared(
  { root }: Project,
  paths: readonly string[],
  outputs: readonly string[],
): Promise<string[]> {
  const names = paths.map((path) => relativePath(root, path));
  const own = await selectPaths(names, outputs);
  return paths.filter((_, index) => !own.has(names[index]!));
}

/** A file that changes in this many runs in a row is taken for an undeclared output of the flow. */
const MOST_RUNS = 3;

/** Counts in how many runs in a row each file has changed: an edit looks the same as a write of a script. */
export class ChangesInARow {
  #runs = new Map<string, number>();

  /** Call it when a run has ended in which these changed. */
  runEnded(paths: Iterable<string>): void {
    this.#runs = new Map([...paths].map((path) => [path, (this.#runs.get(path) ?? 0) + 1]));
  }

  /** Call it for files that changed while nothing ran: a person has edited them. */
  edited(paths: Iterable<string>): void {
    for (const path of paths) this.#runs.delete(path);
  }

  mayRestart(path: string): boolean {
    return (this.#runs.get(path) ?? 0) < MOST_RUNS;
  }

  /** After too many restarts, the run may finish first; only then the file no longer starts another. */
  mayRunAgain(path: string, restarts: boolean): boolean {
    return (this.#runs.get(path) ?? 0) <= (restarts ? 2 * MOST_RUNS : MOST_RUNS);
  }
}
