import type { Kind } from '../../model/kind.js';
import type { CacheHit, ItemCounts, Savings, Spent, Status } from '../../model/outcome.js';
import type { RecordedState } from '../../run/history/run-head.js';
import type { DecisionLine } from '../../run/journal/lines.js';

/** What a run did, as a page shows it. Plain JSON and small: the long texts of a phase or unit are in its `Detail`. */
export interface RunView {
  readonly runId: string;
  readonly flow: string;
  readonly file?: string;
  readonly mode: 'run' | 'batch';
  readonly over?: string;
  readonly state: RecordedState;
  /** A flag (`--only`, say) left phases out. */
  readonly partial?: true;
  readonly startedAt: number;
  /** When it ended; while it runs, its last sign of life. */
  readonly endedAt: number;
  readonly durationMs: number;
  readonly spent: Spent;
  readonly saved: Savings;
  /** Phases that executed and that were reused; in a batch, over all rows. */
  readonly executed: number;
  readonly reused: number;
  readonly continues?: string;
  /** Results carried over from the run that this one continues. */
  readonly carried: number;
  readonly args: readonly NamedText[];
  readonly failure?: FailureView & { readonly phase?: string };
  readonly phases: readonly PhaseView[];
  /** Rows of a batch. */
  readonly rows: readonly RowView[];
  readonly rowsTotal?: number;
  readonly warnings: readonly { readonly at: number; readonly phase?: string; readonly message: string }[];
  /** The causes of the spending, the most expensive first. */
  readonly causes: readonly Cause[];
  /** Remarks about the journal itself: cut short, of an older format, too large to show whole. */
  readonly notes: readonly string[];
  readonly taskflow: string;
}

/** A text, or its beginning: then `chars` is the length of the whole. */
export interface ShownText {
  readonly text: string;
  readonly chars?: number;
}

export interface NamedText {
  readonly name: string;
  readonly value: ShownText;
}

/** `unfinished`: the run ended while it was under way. `not-run`: the run ended before it. */
export type PhaseState = Status | 'running' | 'waiting' | 'unfinished' | 'not-run';

/** How a phase or a unit of it went. */
interface Went {
  readonly state: PhaseState;
  /** Absent when it was executed. */
  readonly hit?: CacheHit;
  /** The reused result came from the shared cache in this run. */
  readonly shared?: true;
  readonly ageMs?: number;
  /** Why it ran, was reused or was left out. */
  readonly reason: string;
  /** Spent by this run. Absent: it cost nothing. */
  readonly spent?: Spent;
  readonly saved?: Savings;
  readonly durationMs: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly failure?: string;
}

/** A phase of the flow; in a batch, over all rows, which are its units. */
export interface PhaseView extends Went {
  readonly id: string;
  readonly kind: Kind | 'unknown';
  readonly needs: readonly string[];
  /** When its dependencies were done; it waited from then until `startedAt`. */
  readonly readyAt?: number;
  readonly attempts: number;
  /** How often it settled: more than once when a gate sent it back. */
  readonly rounds: number;
  readonly model?: string;
  readonly optional?: true;
  readonly items?: ItemCounts;
  readonly remark?: string;
  /** Waits for a decision about the text with this digest. */
  readonly asks?: { readonly digest: string; readonly deadline?: number };
  readonly units: readonly UnitView[];
}

/** An item, a branch, an iteration, a nested phase, or the phase in one row of a batch. */
export interface UnitView extends Went {
  /** Its name in the journal, which finds its detail. Unique in the run. */
  readonly name: string;
  readonly label: string;
  /** The beginning of its output. */
  readonly hint?: string;
}

export interface RowView extends Omit<Went, 'state' | 'hit' | 'ageMs'> {
  readonly row: number;
  readonly label: string;
  readonly path: string;
  readonly state: string;
  readonly executed: number;
  readonly reused: number;
  readonly file?: string;
}

export interface FailureView {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly detail?: ShownText;
}

/** The long texts of one phase or unit. */
export interface Detail {
  readonly asked: readonly NamedText[];
  /** It was reused: `asked` is from when it was made. */
  readonly askedThen?: true;
  readonly said?: ShownText;
  /** The file that holds the whole output, and how large that is. */
  readonly saidFile?: { readonly path: string; readonly bytes: number };
  readonly attempts: readonly AttemptView[];
  readonly failure?: FailureView;
  readonly files: readonly string[];
  readonly observed?: ObservedView;
  readonly inputs?: InputsView | { readonly unknown: string };
  readonly questions: readonly { readonly at: number; readonly text: ShownText; readonly digest: string }[];
  readonly decisions: readonly Pick<DecisionLine, 'at' | 'decision' | 'by' | 'note'>[];
  readonly key?: string;
  readonly unkeepable?: string;
  /** A secret was hidden in the output. */
  readonly masked?: true;
}

/** What a result was made from: the parts of its key. */
export interface InputsView {
  readonly parts: readonly InputPart[];
  /** Number of parts that are not listed. */
  readonly more?: number;
  /** The key of the entry that holds it. Absent: the journal holds it. */
  readonly key?: string;
  /** The run that `was` refers to. Absent: there is none, or its inputs are not known. */
  readonly beside?: string;
}

export interface InputPart {
  readonly name: string;
  /** The number of files, or that the value is not shown. */
  readonly value?: string;
  /** Its fingerprint, shortened; for a name, such as a model, the name. Empty: it is gone. */
  readonly print: string;
  /** The fingerprint in the other run, where it differs. Empty: it did not exist there. */
  readonly was?: string;
  /** Which of its files differ. */
  readonly files?: readonly string[];
}

/** What an execution looked at inside the project, as far as that was observed. */
export interface ObservedView {
  readonly complete: boolean;
  /** Why it is not complete. */
  readonly incomplete?: string;
  /** Counts of all paths, where it was executed in this run. */
  readonly counts?: Readonly<Record<'reads' | 'lists' | 'absent' | 'writes', number>>;
  /** Paths that are not declared, here and below. */
  readonly reads: readonly string[];
  readonly lists: readonly string[];
  /** Paths that it looked for and did not find. */
  readonly absent: readonly string[];
}

export interface AttemptView {
  readonly at: number;
  readonly attempt: number;
  readonly durationMs: number;
  readonly spent?: Spent;
  readonly failure: FailureView;
  readonly partial?: ShownText;
  readonly retryInMs?: number;
}

/** One change, and everything that was executed because of it. */
export interface Cause {
  readonly what: string;
  readonly spent: Spent;
  readonly ms: number;
  readonly phases: readonly string[];
  /** Executions: items count each. */
  readonly count: number;
}

/** A run compared with an earlier one of the same flow. */
export interface RunComparison {
  readonly before: Pick<RunView, 'runId' | 'flow' | 'state' | 'startedAt' | 'durationMs' | 'spent' | 'saved'>;
  readonly phases: readonly ComparedPhase[];
  /** What changed, and what was executed now because of it. */
  readonly edits: readonly Cause[];
}

export type Verdict = 'ran' | 'reused' | 'left-out' | 'new' | 'gone';

export interface ComparedPhase {
  readonly id: string;
  readonly verdict: Verdict;
  /** Why it ran now, or how it ended. */
  readonly why: string;
  /** Which inputs differ. Absent: not known (any more). */
  readonly differs?: readonly string[];
  readonly before?: Side;
  readonly now?: Side;
}

export interface Side {
  readonly state: PhaseState;
  readonly reused: boolean;
  readonly spent?: Spent;
  readonly durationMs: number;
}

/** The data in a report file. */
export interface ReportData {
  readonly view: RunView;
  readonly details: Readonly<Record<string, Detail>>;
  readonly comparison?: RunComparison;
  /** False: contents were left out. */
  readonly outputs: boolean;
  /** When the report was made. */
  readonly madeAt: number;
}
