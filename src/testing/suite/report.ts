/** What `taskflow test --json` prints and the library returns. Fields are only ever added. */
export interface TestReport {
  /** `failed` also where a case could not run. */
  readonly status: 'passed' | 'failed' | 'interrupted';
  readonly passed: number;
  readonly failed: number;
  /** Follows a case that failed, or was not reached. */
  readonly skipped: number;
  readonly durationMs: number;
  readonly files: readonly FileReport[];
  readonly recordings: {
    /** Recordings that this run made. */
    readonly made: number;
    /** Their cost; null where a price is not known. */
    readonly usd: number | null;
    /** That no case used; only where all cases of a flow ran. */
    readonly unused: readonly string[];
    /** Unused ones that were removed, because everything was recorded anew. */
    readonly removed: readonly string[];
  };
}

export interface FileReport {
  /** From the project root. */
  readonly file: string;
  readonly flow: string;
  readonly cases: readonly CaseReport[];
}

export interface CaseReport {
  readonly name: string;
  readonly line: number;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly durationMs: number;
  /** How often an agent was called, with a recording or without. */
  readonly calls: number;
  /** Differences from what was expected. */
  readonly differences: readonly Difference[];
  /** Agent calls that no recording answers. */
  readonly unrecorded: readonly UnrecordedCall[];
  /** Why it was skipped. */
  readonly reason?: string;
}

export interface Difference {
  /** What was expected: `phases.summary.contains`. */
  readonly what: string;
  /** In the test file. */
  readonly line: number;
  readonly message: string;
}

export interface UnrecordedCall {
  /** The beginning of its task. */
  readonly title: string;
  readonly task: string;
  /** Which of several equal calls, from 1. */
  readonly ordinal: number;
  /** The recording that comes nearest, and what differs, a line each. */
  readonly nearest?: { readonly file: string; readonly differs: readonly string[] };
}
