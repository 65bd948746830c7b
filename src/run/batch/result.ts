import type { RunStatus } from '../../model/event.js';
import type { Failure } from '../../model/failure.js';
import type { JsonObject } from '../../model/json.js';
import type { Savings, Spent } from '../../model/outcome.js';
import type { TextOutput } from '../../model/output.js';

/** How a batch ended. Outputs are not in it: a hundred thousand of them would not fit; `outputOf` reads one. */
export interface BatchResult {
  readonly runId: string;
  readonly flow: string;
  readonly status: RunStatus;
  readonly continues?: string;
  readonly total: number;
  /** Rows that succeeded. */
  readonly done: number;
  /** Rows that failed or were blocked. */
  readonly failed: number;
  /** Rows that wait for an approval. */
  readonly paused: number;
  /** Rows that were not run, or not to their end: an interrupt, the budget, --fail-fast. */
  readonly left: number;
  /** Of those: rows that were under way when the batch stopped. */
  readonly underWay: number;
  /** Of those that are done: rows in which nothing had to be executed. */
  readonly reused: number;
  readonly durationMs: number;
  readonly spent: Spent;
  readonly saved: Savings;
  /** Phases of all rows. */
  readonly reuse: { readonly executed: number; readonly run: number; readonly crossRun: number };
  readonly rows: readonly RowResult[];
  readonly warnings: readonly string[];
  /** Why it stopped before the end, or what the first failed row said. */
  readonly error?: { readonly row?: number; readonly phase: string } & Pick<Failure, 'code' | 'message' | 'hint'>;
  /**
   * The output of a row, read back from the run's journal; undefined unless outputs were asked for. Of a large one the
   * beginning, with the file that holds it.
   */
  outputOf(row: number): TextOutput | undefined;
}

/** Small, since there may be very many rows. */
export interface RowResult {
  readonly row: number;
  readonly line: number;
  readonly label: string;
  readonly args: JsonObject;
  /** `cancelled`: not begun at all. */
  readonly status: RunStatus | 'cancelled';
  readonly spent: Spent;
  readonly saved: Savings;
  readonly durationMs: number;
  /** Phases of this row. */
  readonly reuse: BatchResult['reuse'];
  readonly file?: string;
  readonly error?: { readonly phase: string } & Pick<Failure, 'code' | 'message' | 'hint'>;
}
