import type { RunEvent } from '../model/event.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../model/json.js';
import type { TextOutput } from '../model/output.js';
import { bindArgs } from '../plan/args.js';
import { lastBatch } from '../run/batch/last-batch.js';
import type { BatchOptions } from '../run/batch/options.js';
import type { BatchResult, RowResult } from '../run/batch/result.js';
import { type BatchRow, bindRows } from '../run/batch/rows/bind-rows.js';
import { fromValue } from '../run/batch/rows/from-value.js';
import type { RawRow, RowProblem } from '../run/batch/rows/raw-row.js';
import { bareArgument, commonSpecs } from '../run/batch/rows/row-arguments.js';
import { runBatch as startBatch } from '../run/batch/run-batch.js';
import type { Continuation } from '../run/core/options.js';
import { shownOutput } from '../run/core/output-folder.js';
import type { Project } from '../util/project.js';
import { quietHandleOf } from './handle.js';
import type { LoadedFlow } from './load.js';
import { type RunFlowOptions, whatToRun } from './run.js';

/** The arguments of one row (undefined: not given), or one bare value for the argument that `as` names. */
export type BatchRowValue = Readonly<Record<string, JsonValue | undefined>> | string | number | boolean;

/** How a program runs a flow over many rows. All other options are as in `RunFlowOptions`. */
export interface RunBatchOptions extends Omit<RunFlowOptions, 'args' | 'continuation'> {
  /** Arguments for all rows; a row's own arguments override them. */
  readonly args?: Readonly<Record<string, JsonValue>>;
  /** The argument that a bare value is for. Default: the only one that the flow has, else `topic`. */
  readonly as?: string;
  /** Names the list of rows; batches of one flow over one list belong together. Default: `rows`. */
  readonly over?: string;
  /** `true`: go on with the last batch of this flow over this list. A run's id: with that one. Default: start anew. */
  readonly resume?: boolean | string;
  /** Rows under way at once. Their executions are also bounded by `concurrency`. Default: twice that. */
  readonly jobs?: number;
  /** The first row that fails ends the batch. Default: the others go on. */
  readonly failFast?: boolean;
  /** `false`: outputs are not written to the journal, so `outputOf` of the result finds none. Default: true. */
  readonly keepOutputs?: boolean;
  /** Called with the output of a row as soon as it succeeds; a large output has its `file`. Must not throw. */
  readonly onOutput?: (row: BatchRow, output: TextOutput) => void;
  /** Called with each row when it has ended. Must not throw. */
  readonly onRow?: (row: RowResult) => void;
}

export interface BatchHandle {
  /**
   * The events of the batch, in order; ends with it. They are kept only once this property has been read, so read it
   * before you await anything: `const { events, result } = runBatch(…)`. Do not read it if you do not want events.
   */
  readonly events: AsyncIterable<RunEvent>;
  /**
   * Rows that fail are in the result. Rejects only when the batch cannot begin: with `RowsError` for rows that do not
   * fit the flow's arguments, else as for `runFlow`.
   */
  readonly result: Promise<BatchResult>;
}

/**
 * Runs a flow once for each row, as one run: one journal, one concurrency, one budget. What rows have in common is
 * executed once, and all rows are checked before anything starts. `result.outputOf(1)` is the first row's output.
 */
export function runBatch(
  project: Project,
  flow: LoadedFlow,
  rows: Iterable<BatchRowValue>,
  options: RunBatchOptions = {},
): BatchHandle {
  return quietHandleOf((onEvent) => begin({ project, flow, rows, options }, onEvent));
}

/** Rows that do not fit the flow's arguments; `line` is the row's place in the list, from 1. */
export class RowsError extends Error {
  constructor(readonly problems: readonly RowProblem[]) {
    super(problems.map(({ line, message }) => `row ${line}: ${message}`).join('\n'));
    this.name = 'RowsError';
  }
}

interface BatchCall {
  readonly project: Project;
  readonly flow: LoadedFlow;
  readonly rows: Iterable<BatchRowValue>;
  readonly options: RunBatchOptions;
}

async function begin(call: BatchCall, onEvent: (event: RunEvent) => void): Promise<BatchResult> {
  const { project, flow: loaded } = call;
  const { args = {}, as: _as, over = 'rows', resume = false, config, onOutput, ...options } = call.options;
  const { jobs } = options;
  if (jobs !== undefined && (!Number.isInteger(jobs) || jobs < 1)) throw new Error('jobs is a whole number from 1 on');
  const { rows, warnings } = await fittedRows(call, args);
  const what = { ...(await whatToRun(project, loaded, config)), over };
  const result = await startBatch(
    {
      keepOutputs: true,
      ...options,
      ...what,
      rows,
      continuation: continuationOf(what, resume),
      ...(onOutput && { onOutput: (row, output) => void onOutput(row, shownOutput(output, project.root)) }),
    },
    onEvent,
  );
  if ('refused' in result) throw new Error(result.refused.message);
  return { ...result, warnings: [...warnings, ...result.warnings] };
}

function continuationOf(
  what: Pick<BatchOptions, 'project' | 'flow' | 'source' | 'over'>,
  resume: boolean | string,
): Continuation {
  if (typeof resume === 'string') return { how: 'resume', runId: resume };
  const found = resume ? lastBatch(what) : ({ how: 'fresh' } as const);
  if ('problem' in found) throw new Error(found.problem);
  return found;
}

/** The rows with their arguments bound; `args` are those for all rows. */
async function fittedRows(
  { project, flow: { flow }, rows: values, options }: BatchCall,
  args: JsonObject,
): Promise<{ readonly rows: readonly BatchRow[]; readonly warnings: readonly string[] }> {
  const { as = bareArgument(flow.args) } = options;
  const common = bindArgs(commonSpecs(flow.args), args, { root: project.root, source: 'json' });
  if ('problems' in common) throw new Error(common.problems.map(({ message }) => message).join('\n'));
  const raw: RawRow[] = [];
  const problems: RowProblem[] = [];
  let line = 0;
  for (const value of values) {
    line += 1;
    const row = fromValue(withoutUndefined(value), as);
    if (typeof value !== 'object' && !Object.hasOwn(flow.args, as)) {
      problems.push({ line, message: `the flow has no argument "${as}" that ${JSON.stringify(value)} could be` });
    } else if ('problem' in row) problems.push({ line, message: row.problem });
    else raw.push({ line, values: row.values });
  }
  const bound = await bindRows(raw, { specs: flow.args, project, format: 'json', as, common: common.args });
  if ('problems' in bound) problems.push(...bound.problems);
  if (problems.length > 0 || 'problems' in bound) throw new RowsError(problems.sort((a, b) => a.line - b.line));
  return bound;
}

function withoutUndefined(value: BatchRowValue): JsonValue {
  if (!isJsonObject(value)) return value as JsonValue;
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
