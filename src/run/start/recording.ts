import type { Failure } from '../../model/failure.js';
import type { RunContext } from '../context/context.js';
import type { Decision } from '../continue/continuation.js';
import type { ImportedCheckpoint } from '../continue/imported.js';
import type { PriorResults } from '../continue/prior-results.js';
import type { ScopeResult } from '../core/scope.js';
import type { JournalWriter } from '../journal/writer.js';

/** What a run continues: an earlier run, a checkpoint, or nothing. */
export interface Continued {
  readonly decision: Exclude<Decision, { readonly failure: unknown }>;
  readonly imported: ImportedCheckpoint | undefined;
}

export type RunEnd = Pick<ScopeResult, 'status' | 'failure' | 'partial'> & { readonly durationMs: number };

/** What a run leaves on disk, step by step. A forecast has one that leaves nothing. */
export interface Recording {
  readonly journal: JournalWriter;
  /** Results of what the run continues. */
  prior(): PriorResults | Promise<PriorResults>;
  /** The context cannot be made: nothing runs. */
  refuse(failure: Failure): void;
  begin(context: RunContext): void;
  end(context: RunContext, end: RunEnd): void;
}
