import { lastBatch } from '../../../run/batch/last-batch.js';
import { rowPath } from '../../../run/batch/row-scope.js';
import type { BatchRow } from '../../../run/batch/rows/bind-rows.js';
import { ROW_FORMATS } from '../../../run/batch/rows/raw-row.js';
import type { Selection } from '../../../run/core/options.js';
import { readBatchRows } from '../../batch/batch-rows.js';
import { executeBatch } from '../../batch/execute-batch.js';
import { rowFlags } from '../../batch/row-flags.js';
import type { Command } from '../../boot/command.js';
import { complain } from '../../errors/problem.js';
import { RUN_FLAGS } from '../../flags/run-flags.js';
import { prepareRun } from '../../run/prepare-run.js';

/** Flags with another meaning in a batch, where rows that are done stay done. */
const IN_A_BATCH: Readonly<Record<string, string>> = {
  arg: 'an argument for all rows; a row of its own goes before',
  rerun: 'run this phase again; a side effect only in rows where it is in doubt',
  skip: 'take this side effect as done in such rows',
};

export const command: Command = {
  usage: 'FLOW --over FILE [K=V …] [flags]',
  description: `Runs a flow once for each row of a file: one process, one journal, one budget, one cache. What
several rows have in common is executed once. A row that fails does not stop the others.

Rows: .txt (one per line), .csv and .tsv (the first line names the arguments), .jsonl, .json and .yaml (a list of
objects), or - for standard input. All rows are checked before anything starts.

Status: as of run; 1 if a row failed, 2 if a row does not fit the flow's arguments, 4 if rows only wait for a person.`,
  examples: [
    { command: 'taskflow batch research --over topics.txt --out results', does: 'one file per topic in results/' },
    { command: 'taskflow batch ./review.yaml --over files.csv --jobs 20', does: 'columns are arguments of the flow' },
    { command: 'taskflow batch research --over topics.txt --resume', does: 'only what is missing' },
    { command: 'taskflow batch research --over topics.txt --dry-run', does: 'what would run, and what it last cost' },
    { command: 'git ls-files "*.md" | taskflow batch lint --over - --as file', does: 'rows from a pipe' },
  ],
  flags: [
    { name: 'over', type: 'string', value: 'FILE', help: 'the rows (- is stdin)' },
    { name: 'as', type: 'string', value: 'NAME', help: 'the argument that a bare value is for (default: topic)' },
    {
      name: 'format',
      type: 'string',
      value: 'F',
      choices: ROW_FORMATS,
      help: `${ROW_FORMATS.join(', ')}; else by name`,
    },
    { name: 'out', alias: 'o', type: 'string', value: 'DIR', help: 'one file per row, batch.json and summary.md' },
    { name: 'jobs', alias: 'j', type: 'number', value: 'N', help: 'rows at once (default: 2 × concurrency)' },
    {
      name: 'dry-run',
      alias: 'n',
      type: 'boolean',
      help: 'what would run or be reused in which rows; executes nothing',
    },
    { name: 'resume', type: 'boolean', help: 'go on with the last batch of this flow and these rows' },
    { name: 'fail-fast', type: 'boolean', help: 'end with the first row that fails' },
    ...RUN_FLAGS.map((flag) => ({ ...flag, help: IN_A_BATCH[flag.name] ?? flag.help })),
  ],
  positionals: [
    { name: 'FLOW', help: 'a path, or the name of a saved flow', required: true },
    { name: 'K=V', help: 'arguments for all rows', required: false, many: true },
  ],
  async help(invocation) {
    return (await import('../../load/flow-help.js')).showFlowHelp(invocation);
  },
  async run(invocation) {
    const { flags, positionals } = invocation;
    if (flags.boolean('detach')) return (await import('../../run/detach.js')).detach(invocation);
    if (flags.string('over') === undefined) {
      return complain(invocation, 'no rows are given', 'add --over FILE (.txt, .csv, .jsonl, .json, .yaml or -)');
    }
    const jobs = flags.number('jobs');
    if (jobs !== undefined && (!Number.isInteger(jobs) || jobs < 1)) {
      return complain(invocation, '--jobs is a whole number from 1 on');
    }
    const [typed, ...pairs] = positionals as [string, ...string[]];
    const prepared = await prepareRun(invocation, { typed, args: () => OF_THE_ROWS, selectionInFlow: withoutRows });
    if ('status' in prepared) return prepared.status;
    const read = await readBatchRows(invocation, prepared.flow, pairs);
    if ('status' in read) return read.status;
    const { rows, over, warnings } = read;
    const noRow = unknownRow(rows, prepared.selection ?? {});
    if (noRow !== undefined) return complain(invocation, `no row of ${over} is ${noRow}`, NO_ROW_HINT);
    const continuation = flags.boolean('resume') ? lastBatch({ ...prepared, over }) : { how: 'fresh' as const };
    if ('problem' in continuation) return complain(invocation, continuation.problem);
    const options = {
      ...prepared,
      continuation,
      rows,
      over,
      rowFlags: rowFlags(invocation, prepared.flow.args, pairs),
      ...(jobs === undefined ? {} : { jobs }),
      failFast: flags.boolean('fail-fast'),
    };
    if (!flags.boolean('dry-run')) return executeBatch(invocation, options, warnings);
    const { showBatchForecast } = await import('../../batch/dry-run-batch.js');
    const { forecastWorkers } = await import('../../run/workers.js');
    return showBatchForecast(invocation, { ...options, ...forecastWorkers(invocation, options.config) });
  },
};

const OF_THE_ROWS = { args: {} };
const NO_ROW_HINT = 'taskflow runs show last --json has the path of each row';
const ROW_PATH = /^(rows\/[^/]+)\//;

/** `rows/3f…/send` is `send` of one row; `send` is that of all rows. */
function withoutRows({ rerun = [], skip = [], ...rest }: Selection): Selection {
  const inFlow = (names: readonly string[]) => names.map((name) => name.replace(ROW_PATH, ''));
  return { ...rest, rerun: inFlow(rerun), skip: inFlow(skip) };
}

function unknownRow(rows: readonly BatchRow[], { rerun = [], skip = [] }: Selection): string | undefined {
  const paths = [...rerun, ...skip].flatMap((name) => ROW_PATH.exec(name)?.[1] ?? []);
  if (paths.length === 0) return undefined;
  const known = new Set(rows.map(rowPath));
  return paths.find((path) => !known.has(path));
}
