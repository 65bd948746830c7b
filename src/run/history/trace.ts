import type { Project } from '../../util/project.js';
import type {
  AskLine,
  AttemptLine,
  ChildLine,
  DecisionLine,
  ResultLine,
  RowLine,
  StartLine,
  WarningLine,
} from '../journal/lines.js';
import { readLines } from '../journal/reader.js';
import { type RunHead, runHead } from './run-head.js';
import { isRunId, journalOf } from './runs-folder.js';

/** Everything that a journal says about one phase, in order. */
export interface PhaseTrace {
  readonly phase: string;
  readonly starts: StartLine[];
  readonly children: ChildLine[];
  readonly attempts: AttemptLine[];
  readonly units: ResultLine[];
  readonly questions: AskLine[];
  readonly decisions: DecisionLine[];
  result?: ResultLine;
}

export interface RunTrace {
  readonly head: RunHead;
  readonly phases: readonly PhaseTrace[];
  readonly rows: readonly RowLine[];
  readonly warnings: readonly WarningLine[];
  /** Results carried over from the run that this one continues. */
  readonly carried: number;
}

/** What a run did, from its journal alone; undefined when there is no such run. */
export function traceRun(project: Project, runId: string): RunTrace | undefined {
  const head = isRunId(runId) ? runHead(project, runId) : undefined;
  if (!head) return undefined;
  const phases = new Map<string, PhaseTrace>();
  const rows: RowLine[] = [];
  const warnings: WarningLine[] = [];
  let carried = 0;
  let carrying = false;
  const of = (phase: string): PhaseTrace => {
    let trace = phases.get(phase);
    if (!trace) {
      trace = { phase, starts: [], children: [], attempts: [], units: [], questions: [], decisions: [] };
      phases.set(phase, trace);
    }
    return trace;
  };
  for (const { line } of readLines(journalOf(project, runId))) {
    if (line.type === 'carried-begin') carrying = true;
    else if (line.type === 'carried-end') carrying = false;
    else if (carrying) carried += line.type === 'phase' ? 1 : 0;
    else if (line.type === 'start') of(line.phase).starts.push(line);
    else if (line.type === 'child') of(line.phase).children.push(line);
    else if (line.type === 'attempt') of(line.phase).attempts.push(line);
    else if (line.type === 'unit') of(line.phase).units.push(line);
    else if (line.type === 'phase') of(line.phase).result = line;
    else if (line.type === 'ask') of(line.phase).questions.push(line);
    else if (line.type === 'decision') of(line.phase).decisions.push(line);
    else if (line.type === 'row') rows.push(line);
    else if (line.type === 'warning') warnings.push(line);
  }
  return { head, phases: [...phases.values()], rows, warnings, carried };
}
