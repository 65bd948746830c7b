import type { Output } from '../../model/outcome.js';
import type { RunOptions } from '../core/options.js';
import type { RowResult } from './result.js';
import type { BatchRow } from './rows/bind-rows.js';

/** Everything a surface decides about a batch. The rows are bound already: nothing of them can be wrong any more. */
export interface BatchOptions extends Omit<RunOptions, 'args' | 'batch' | 'forecast'> {
  readonly rows: readonly BatchRow[];
  /** Names the list of rows: batches of one flow over one list belong together. */
  readonly over: string;
  /** For people who go on with it: flags that decide the rows, besides the list. */
  readonly rowFlags?: readonly string[];
  /** Rows under way at once. What they execute is bounded by the run's concurrency all the same. */
  readonly jobs?: number;
  /** The first row that fails ends the batch. */
  readonly failFast?: boolean;
  /** Keep the outputs in the journal, so that `outputOf` can read them. */
  readonly keepOutputs?: boolean;
  /** Takes a row's output as soon as it is there; may return the name of the file that it was written to. */
  readonly onOutput?: (row: BatchRow, output: Output) => string | undefined;
  readonly onRow?: (row: RowResult) => void;
}

/** The batch as one run. Its rows have the arguments. */
export function runOptionsOf(options: BatchOptions): RunOptions {
  const { over, rows, rowFlags } = options;
  return { ...options, args: {}, batch: { over, total: rows.length, rowFlags } };
}
