import type { Project } from '../../util/project.js';
import { compareRuns } from '../view/compare.js';
import { type ReadOptions, readRun, readRunView } from '../view/read-run.js';
import { runBefore } from '../view/run-before.js';
import type { ReportData } from '../view/types.js';

export interface ReportOptions extends ReadOptions {
  /** The run to compare with; by default the one before it. */
  readonly compare?: string;
  readonly madeAt: number;
}

/** Everything that a report of a run holds; undefined when its journal cannot be read. */
export function reportData(project: Project, runId: string, options: ReportOptions): ReportData | undefined {
  const read = readRun(project, runId, options);
  if (!read) return undefined;
  const other = options.compare ?? runBefore(project, runId);
  const before = other === undefined || other === runId ? undefined : readRunView(project, other, options);
  return {
    view: read.view,
    details: Object.fromEntries(read.details),
    ...(before && { comparison: compareRuns(read.view, before) }),
    outputs: options.outputs ?? true,
    madeAt: options.madeAt,
  };
}
