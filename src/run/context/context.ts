import type { KnownStats } from '../../memo/files/known-stats.js';
import type { FingerprintResolver } from '../../memo/fingerprint/resolver.js';
import type { Identity } from '../../memo/identity.js';
import type { ObservedFiles } from '../../memo/observed/observed-files.js';
import type { RunEventBody } from '../../model/event.js';
import type { JsonObject } from '../../model/json.js';
import type { Store } from '../../store/store.js';
import type { PriorResults } from '../continue/prior-results.js';
import type { Admission } from '../core/admission.js';
import type { Ledger } from '../core/budget.js';
import type { PhaseOutcome } from '../core/execution.js';
import type { RunOptions } from '../core/options.js';
import type { OutputFolder } from '../core/output-folder.js';
import type { Scope, ScopeResult } from '../core/scope.js';
import type { Secrets } from '../core/secrets.js';
import type { EffectsLedger } from '../effects/ledger.js';
import type { Slots } from '../execute/slots.js';
import type { LastRun } from '../history/last-run.js';
import type { ResultLine } from '../journal/lines.js';
import type { JournalWriter, LinePlace } from '../journal/writer.js';
import type { DeclaredFiles } from '../reuse/declared-files.js';
import type { KeptEntries } from '../reuse/kept-entries.js';
import type { SharedResults } from '../reuse/shared-results.js';
import type { NestedFlows } from './nested-flows.js';
import type { RunnerPool } from './runner-pool.js';

/** The services and the state that all phases of one run share. Made one time by `openRun`. */
export interface RunContext {
  readonly options: RunOptions;
  readonly runId: string;
  readonly runDir: string;
  readonly io: RunIo;
  readonly limits: RunLimits;
  readonly reuse: RunReuse;
  readonly flows: RunFlows;
  /** Stops timers and listeners of the run. */
  readonly close: () => void;
}

/** What the run writes and says, and what it must not say. */
interface RunIo {
  readonly journal: JournalWriter;
  readonly emit: (event: RunEventBody) => void;
  /** Reported to the person one time. */
  readonly warn: (message: string) => void;
  readonly secrets: Secrets;
  /** Outputs that are too large for memory. */
  readonly outputs: OutputFolder;
  /** A result line of this run's own journal. */
  readonly readBack: (place: LinePlace) => ResultLine | undefined;
}

/** What bounds the run's work, and what counts it. */
export interface RunLimits {
  readonly slots: Slots;
  /** For units that other machines do; they hold none of the others. */
  readonly away?: Slots;
  /** How many units may be under way, wherever they are. */
  readonly atOnce: number;
  readonly ledger: Ledger;
  /** Closed by the budget, by an interrupt, and by a failure in the run's own flow. */
  readonly admission: Admission;
  /** Aborted on interrupt and on the run's own time limit; its reason is a `Failure`. */
  readonly signal: AbortSignal;
  /** When the run's time is over, on the clock that counts `elapsed`; undefined without a limit. */
  readonly endsAt?: number;
  /** Work whose result no phase waits for (losers of a race that may finish); the run ends after it. */
  readonly background: Set<Promise<unknown>>;
  /** How many executions there were, to name the next one. */
  readonly executions: { count: number };
  /** How many processes were started, and how many of them can be found by their mark. */
  readonly processes: { started: number; marked: number };
}

/** What need not be done again, and how to find it. */
export interface RunReuse {
  /** Undefined when reuse is off, or the store could not be used. */
  readonly store: Store | undefined;
  readonly fingerprints: FingerprintResolver;
  /** Digests of files that this run, or one before it, has read. */
  readonly stats: KnownStats;
  /** What is at the paths that executions have looked at. */
  readonly observed: ObservedFiles;
  /** Results of the run that this one continues. */
  readonly prior: PriorResults;
  /** Results of this run: what one row or nested flow has made, the others need not make again. */
  readonly shared: SharedResults;
  /** Which side effects of this flow have begun, in any run. */
  readonly effects: EffectsLedger;
  /** The run before this one, to say what changed since. */
  readonly last: LastRun;
  /** What the store has of each phase, where no run says what changed. */
  readonly kept: KeptEntries;
  readonly outputFiles: DeclaredFiles;
  /** The project is (part of) a git repository. */
  readonly inRepository: () => boolean;
  /** The form of an identity that its key is made from: without the secrets of the run and of this scope. */
  readonly sealedIdentity: (identity: Identity, scope: Scope) => Identity;
  /** Secrets are sealed with a key that the team shares: other machines make the same keys of them. */
  readonly sealsAreShared: boolean;
  /** The form in which an identity may be written. */
  readonly storedIdentity: (identity: Identity, length?: number) => JsonObject;
  /** At the very end: holds the store to its bounds, if this run has added to it. Never fails the run. */
  readonly tidyStore: () => Promise<void>;
}

/** The flows and runners that phases use. */
interface RunFlows {
  readonly nested: NestedFlows;
  readonly runners: RunnerPool;
  /** Runs a nested flow. */
  readonly runScope: (scope: Scope, signal: AbortSignal) => Promise<ScopeResult>;
  /** Runs a phase again that a gate has sent back; its new outcome replaces the old one in the scope. */
  readonly rerunPhase: (again: Rerun) => Promise<PhaseOutcome>;
  /** The phase of `--from`, and all phases after it. */
  readonly following: ReadonlySet<string>;
}

/** How scopes and phases are run: given to the context, since phases run flows and flows run phases. */
export interface Scheduler {
  runScope(run: RunContext, scope: Scope, signal: AbortSignal): Promise<ScopeResult>;
  rerunPhase(run: RunContext, again: Rerun): Promise<PhaseOutcome>;
}

interface Rerun {
  readonly scope: Scope;
  readonly id: string;
  readonly round: number;
  readonly signal: AbortSignal;
}
