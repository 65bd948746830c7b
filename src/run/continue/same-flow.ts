import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Failure } from '../../model/failure.js';
import type { Flow } from '../../model/flow.js';
import type { Project } from '../../util/project.js';
import type { RunLine } from '../journal/lines.js';

/** What a run, or whatever was made from it, says about the flow that was run. */
export type RunOf = Pick<RunLine, 'flow' | 'file'>;

/**
 * Why this flow cannot continue a run: the run is of another flow, and continuing it would use it up for nothing. The
 * file decides, since names are edited. If the run's file is gone, the flow may have moved, and its name decides.
 */
export function ofAnotherFlow(project: Project, flow: Flow, { runId, run }: RunOfFlow): Failure | undefined {
  if (run.file === undefined || flow.file === undefined)
    return run.flow === flow.name ? undefined : refusal(runId, run);
  if (run.file === flow.file) return undefined;
  const wasMoved = run.flow === flow.name && !existsSync(resolve(project.root, run.file));
  return wasMoved ? undefined : refusal(runId, run);
}

/** The same of a checkpoint. It may come from another folder or machine, where the file has another path. */
export function fromAnotherFlow(flow: Flow, { runId, run }: RunOfFlow): Failure | undefined {
  const isSame = run.flow === flow.name || (run.file !== undefined && run.file === flow.file);
  return isSame ? undefined : refusal(runId, run);
}

interface RunOfFlow {
  readonly runId: string;
  readonly run: RunOf;
}

function refusal(runId: string, { flow, file }: RunOf): Failure {
  const where = file === undefined ? '' : ` (${file})`;
  return {
    code: 'bad-input',
    message: `${runId} cannot be continued here: that is a run of flow ${flow}${where}`,
    hint: file === undefined ? undefined : `\`taskflow run ${file}\` goes on with it.`,
  };
}
