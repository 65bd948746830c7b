import { selectPaths } from '../../memo/files/select-paths.js';
import type { Flow } from '../../model/flow.js';
import { journalOf } from '../../run/history/runs-folder.js';
import { readLines } from '../../run/journal/reader.js';
import { anyName } from '../../run/reuse/covering-outputs.js';
import { relativePath } from '../../util/inside.js';
import type { Project } from '../../util/project.js';

/** What a watch has to know of a run that has ended. */
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

/** The globs of everything that the flow says it writes. */
export function declaredOutputs(flow: Flow): string[] {
  return flow.phases.flatMap((phase) => [
    ...phase.outputs.map(anyName),
    ...('source' in phase && phase.source.from === 'inline' ? declaredOutputs(phase.source.flow) : []),
  ]);
}

/** Those of the paths, changed while a run was under way, that the flow does not say it writes. */
export async function notDeclared(
  { root }: Project,
  paths: readonly string[],
  outputs: readonly string[],
): Promise<string[]> {
  const names = paths.map((path) => relativePath(root, path));
  const own = await selectPaths(names, outputs);
  return paths.filter((_, index) => !own.has(names[index]!));
}

/** A file that changes in so many runs in a row is taken for one that the flow writes without saying so. */
const MOST_RUNS = 3;

/** In how many runs in a row each file has changed: an edit looks the same as what a script writes. */
export class ChangesInARow {
  #runs = new Map<string, number>();

  /** A run has ended in which these changed. */
  runEnded(paths: Iterable<string>): void {
    this.#runs = new Map([...paths].map((path) => [path, (this.#runs.get(path) ?? 0) + 1]));
  }

  /** These changed while nothing ran: somebody has edited them. */
  edited(paths: Iterable<string>): void {
    for (const path of paths) this.#runs.delete(path);
  }

  mayRestart(path: string): boolean {
    return (this.#runs.get(path) ?? 0) < MOST_RUNS;
  }

  /** After restarts the run is let finish, and only then it is too often. */
  mayRunAgain(path: string, restarts: boolean): boolean {
    return (this.#runs.get(path) ?? 0) <= (restarts ? 2 * MOST_RUNS : MOST_RUNS);
  }
}
