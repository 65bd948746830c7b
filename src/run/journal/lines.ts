import type { RunStatus } from '../../model/event.js';
import type { Failure } from '../../model/failure.js';
import type { Expiry } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import type { Kind } from '../../model/kind.js';
import type { ObservedCounts } from '../../model/observation.js';
import type { Ending, Origin, Output, Result, Savings, Usage } from '../../model/outcome.js';
import type { HolderIdentity } from '../../process/process-identity.js';

/** Raised when a line's meaning changes: older journals are then shown, but not continued. */
export const JOURNAL_VERSION = 1;

/** The first line: what is run, and who runs it. */
export interface RunLine {
  readonly type: 'run';
  readonly at: number;
  readonly version: typeof JOURNAL_VERSION;
  readonly runId: string;
  readonly flow: string;
  /** Project-relative path of the flow's file; absent for a flow that came from memory. */
  readonly file?: string;
  readonly fileDigest?: string;
  /** How the flow was named: only a path continues by itself. */
  readonly ref: string;
  readonly byName: boolean;
  readonly mode: 'run' | 'batch';
  /** The list of a batch, and how many rows it has. */
  readonly over?: string;
  readonly rows?: number;
  /** Flags that decide the rows, besides the list: `--as=file`. Of a secret the value is left out. */
  readonly rowFlags?: readonly string[];
  readonly args: JsonObject;
  readonly argsDigest: string;
  readonly continues?: string;
  readonly phases: readonly { readonly id: string; readonly kind: Kind; readonly needs: readonly string[] }[];
  /** Nobody waits for it at a terminal: a decision about it starts it again by itself. */
  readonly detached?: true;
  readonly taskflow: string;
  readonly owner: HolderIdentity;
}

/** Everything up to `carried-end` was done by earlier runs that this one continues. */
interface CarryLine {
  readonly type: 'carried-begin' | 'carried-end';
  readonly at: number;
  readonly from: string;
}

/** An execution begins. Synced to disk for phases that are not idempotent: from here on they are in doubt. */
export interface StartLine {
  readonly type: 'start';
  readonly at: number;
  readonly phase: string;
  readonly unit?: string;
  readonly runKey?: string;
  readonly idempotent: boolean;
  readonly reason: string;
  /** The run in which it began, if that was another one. */
  readonly begunIn?: string;
  /** Its line in the ledger of side effects, which says what became of it. */
  readonly effect?: string;
}

export interface ChildLine {
  readonly type: 'child';
  readonly at: number;
  readonly phase: string;
  readonly pid: number;
  readonly startTicks?: number;
  readonly mark?: string;
}

/** One attempt that failed; the last one of a failed phase too. */
export interface AttemptLine {
  readonly type: 'attempt';
  readonly at: number;
  readonly phase: string;
  readonly unit?: string;
  readonly attempt: number;
  readonly durationMs: number;
  readonly usage: Usage;
  readonly failure: Failure;
  readonly inputs?: JsonObject;
  /** The output before it failed, shortened. */
  readonly partial?: string;
  readonly retryInMs?: number;
}

/** What a line says of the result and of how it ended, under the same names. */
type Written = Partial<Result> &
  Pick<Ending, 'status' | 'usage' | 'durationMs' | 'attempts' | 'saved' | 'failure' | 'inputs' | 'remark'> &
  Pick<Origin, 'hit' | 'shared' | 'reason'>;

/** One settled unit (an item, a branch, an iteration) or phase. Found again by `runKey` when a run is continued. */
export interface ResultLine extends Written {
  readonly type: 'unit' | 'phase';
  readonly at: number;
  /** Full path: `review/inner`, `rows/3/plan`. */
  readonly phase: string;
  readonly kind: Kind;
  readonly unit?: string;
  readonly runKey?: string;
  /** Carried by runs that did not use it: it was good in this one, the last that did. */
  readonly validIn?: string;
  /** Carried, while this phase executed in its place or above it. */
  readonly outdatedBy?: string;
  readonly output: Output;
  /** The output held a secret, which is not written: this is not the real output and must not be reused as it. */
  readonly masked?: true;
  readonly optional?: true;
  readonly identity?: JsonObject;
  /** How much it looked at, where it was executed now and somebody looked. */
  readonly observed?: ObservedCounts;
  readonly idempotent?: false;
  /** Set for a side effect: a continued run finds it again by this, whatever ran around it. */
  readonly effect?: Effect;
  /** This result was decided by a person or a judge. */
  readonly deciding?: true;
}

/** What a side effect is made of. Nothing else decides whether it is the same one as before. */
export interface Effect {
  /** Of a phase with several: which one. An item by its value, a branch by its id. */
  readonly unit?: string;
  /** Digest of its own rendered task or command and input, with the context files that are sent. */
  readonly body: string;
  /** Digest of the environment that it is given. */
  readonly env: string;
  /** For people, shortened: values of the environment are not shown. */
  readonly inputs: JsonObject;
}

/** A gate has sent a result back: it and its parts, by key and run key, are not reused. */
interface RejectedLine {
  readonly type: 'rejected';
  readonly at: number;
  readonly phase: string;
  readonly keys: readonly string[];
}

export interface AskLine {
  readonly type: 'ask';
  readonly at: number;
  readonly phase: string;
  readonly text: string;
  readonly digest: string;
  /** Until when somebody has to decide; undefined: at any time. Kept by runs that continue this one. */
  readonly deadline?: number;
  /** The decision at that time. */
  readonly onExpire?: Expiry;
}

export interface DecisionLine {
  readonly type: 'decision';
  readonly at: number;
  readonly phase: string;
  /** Of exactly the text that was shown. */
  readonly digest: string;
  readonly decision: 'approve' | 'reject';
  readonly note?: string;
  /** Who decided, where that is known. */
  readonly by?: string;
}

/** A provider's usage limit was met: the run calls this runner again at `until`. */
export interface LimitLine {
  readonly type: 'limit';
  readonly at: number;
  readonly phase: string;
  readonly runner: string;
  readonly until: number;
  readonly known: boolean;
  readonly waits: boolean;
  readonly error: string;
}

export interface WarningLine {
  readonly type: 'warning';
  readonly at: number;
  readonly phase?: string;
  readonly message: string;
}

/** One row of a batch has ended. */
export interface RowLine {
  readonly type: 'row';
  readonly at: number;
  readonly row: number;
  readonly label: string;
  /** Of its phases: `rows/<digest of its arguments>`. */
  readonly path: string;
  readonly args: JsonObject;
  readonly status: RunStatus;
  readonly usage: Usage;
  readonly saved: Savings;
  readonly durationMs: number;
  readonly reuse: { readonly executed: number; readonly run: number; readonly crossRun: number };
  readonly file?: string;
  readonly failure?: {
    readonly phase: string;
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
  };
  /** Only where a person asked for the outputs: the lines of the phases hold them too. */
  readonly output?: Output;
}

export interface EndLine {
  readonly type: 'end';
  readonly at: number;
  readonly status: RunStatus;
  /** A flag left phases out (`--until`): what it did is done, and the rest is still to do. */
  readonly partial?: true;
  readonly durationMs: number;
  readonly spent: Usage;
  readonly saved: Savings;
  readonly failure?: Failure & { readonly phase?: string };
}

export type JournalLine =
  | RunLine
  | CarryLine
  | StartLine
  | ChildLine
  | AttemptLine
  | ResultLine
  | RejectedLine
  | AskLine
  | DecisionLine
  | LimitLine
  | WarningLine
  | RowLine
  | EndLine;
