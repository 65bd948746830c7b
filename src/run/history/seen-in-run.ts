import type { PathSet } from '../../model/observation.js';
import type { Project } from '../../util/project.js';
import { ObservationUnion, observedOf } from '../core/observation-union.js';
import { readLines } from '../journal/reader.js';
import { journalOf, lastRunId } from './runs-folder.js';

/** What a phase was last seen to look at without declaring it. */
type Undeclared = Pick<PathSet, 'complete' | 'reads' | 'lists' | 'absent'>;

/** By phase of the flow itself, with all its items and what is inside; from the last run of the flow. */
export function seenInLastRun(project: Project, flowId: string): ReadonlyMap<string, Undeclared> {
  const runId = lastRunId(project, flowId);
  const unions = new Map<string, ObservationUnion>();
  for (const { line } of runId === undefined ? [] : readLines(journalOf(project, runId))) {
    if ((line.type !== 'phase' && line.type !== 'unit') || !line.seen) continue;
    const [phase = ''] = line.phase.split(/[/[]/);
    const union = unions.get(phase) ?? new ObservationUnion();
    unions.set(phase, union);
    // What it wrote was judged when it was made.
    union.add(observedOf({ result: { seen: line.seen, files: [] } }));
  }
  return new Map([...unions].flatMap(([phase, { whole }]) => (whole ? [[phase, whole]] : [])));
}
