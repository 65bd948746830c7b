import type { Project } from '../../util/project.js';
import { compareRuns } from '../view/compare.js';
import type { KeptIn } from '../view/made-from.js';
import { type ReadOptions, type ReadRun, readRun } from '../view/read-run.js';
import { runBefore } from '../view/run-before.js';
import { TextBudget } from '../view/text.js';
import type { Detail, ReportData } from '../view/types.js';
import { type InputSources, withInputs } from '../view/with-inputs.js';

export interface ReportOptions extends ReadOptions {
  /** The run to compare with; by default the one before it. */
  readonly compare?: string;
  /** Where kept results are, to look up what they were made from. */
  readonly kept: KeptIn;
  readonly madeAt: number;
}

/** A report shows the inputs of this many items, the executed ones first. */
const MOST_UNITS = 500;
const OF_INPUTS = 2_000_000;
const TOO_MANY = { inputs: { unknown: `a report holds it for the first ${MOST_UNITS} items` } };

/** Everything that a report of a run holds; undefined when its journal cannot be read. */
export function reportData(project: Project, runId: string, options: ReportOptions): ReportData | undefined {
  const read = readRun(project, runId, options);
  if (!read) return undefined;
  const { kept, mask, outputs = true, madeAt } = options;
  const other = options.compare ?? runBefore(project, runId);
  // The page shows only the inputs of the other run.
  const before = other === undefined || other === runId ? undefined : readRun(project, other, { mask, outputs: false });
  const texts = new TextBudget(OF_INPUTS, mask);
  return {
    view: read.view,
    details: allWithInputs(read, { kept, texts, outputs, ...(before && { before }) }),
    ...(before && { comparison: compareRuns(read, before, { kept, texts }) }),
    outputs,
    madeAt,
  };
}

function allWithInputs(run: ReadRun, sources: InputSources): Record<string, Detail> {
  const { phases } = run.view;
  const units = phases.flatMap((phase) => phase.units);
  const ordered = [...units.filter(({ hit }) => hit === undefined), ...units.filter(({ hit }) => hit !== undefined)];
  const looked = new Set([...phases.map(({ id }) => id), ...ordered.slice(0, MOST_UNITS).map(({ name }) => name)]);
  return Object.fromEntries(
    [...run.details].map(([name, detail]) => [
      name,
      looked.has(name)
        ? withInputs(run, name, sources)!
        : detail.key === undefined
          ? detail
          : { ...detail, ...TOO_MANY },
    ]),
  );
}
