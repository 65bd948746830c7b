import type { FingerprintResolver } from '../../memo/fingerprint/resolver.js';
import type { Identity } from '../../memo/identity.js';
import type { RunEventBody } from '../../model/event.js';
import type { JsonObject } from '../../model/json.js';
import type { PhaseOutcome } from '../../model/outcome.js';
import type { Store } from '../../store/store.js';
import type { PriorResults } from '../continue/prior-results.js';
import type { Admission } from '../core/admission.js';
import type { Ledger } from '../core/budget.js';
import type { RunOptions } from '../core/options.js';
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

/** How scopes and phases are run: given to the context, since phases run flows and flows run phases. */
export interface Scheduler {
  runScope(run: RunContext, scope: Scope, signal: AbortSignal): Promise<ScopeResult>;
  rerunPhase(run: RunContext, again: Rerun): Promise<PhaseOutcome>;
}

export interface Rerun {
  readonly scope: Scope;
  readonly id: string;
  readonly round: number;
  readonly signal: AbortSignal;
}

/** The services and the state that all phases of one run share. Made once by `startRun`. */
export interface RunContext {
  readonly options: RunOptions;
  readonly runId: string;
  readonly runDir: string;
  readonly journal: JournalWriter;
  readonly emit: (event: RunEventBody) => void;
  /** Told to the person once. */
  readonly warn: (message: string) => void;
  readonly slots: Slots;
  readonly ledger: Ledger;
  /** Closed by the budget, by an interrupt, and by a failure in the run's own flow. */
  readonly admission: Admission;
  /** Undefined when reuse is off, or the store could not be used. */
  readonly store: Store | undefined;
  readonly fingerprints: FingerprintResolver;
  readonly runners: RunnerPool;
  readonly nested: NestedFlows;
  /** Results of the run that this one continues. */
  readonly prior: PriorResults;
  /** Results of this run: what one row or nested flow has made, the others need not make again. */
  readonly shared: SharedResults;
  /** Which side effects of this flow have begun, in whatever run. */
  readonly effects: EffectsLedger;
  /** The run before this one, to say what changed since. */
  readonly last: LastRun;
  /** What the store has of each phase, where no run says what changed. */
  readonly kept: KeptEntries;
  readonly outputFiles: DeclaredFiles;
  readonly secrets: Secrets;
  /** The project is (part of) a git repository. */
  readonly inRepository: () => boolean;
  /** The form of an identity that its key is made from: without the secrets of the run and of this scope. */
  readonly sealedIdentity: (identity: Identity, scope: Scope) => Identity;
  /** The form in which an identity may be written. */
  readonly storedIdentity: (identity: Identity, length?: number) => JsonObject;
  /** Runs a nested flow. */
  readonly runScope: (scope: Scope, signal: AbortSignal) => Promise<ScopeResult>;
  /** Runs a phase again that a gate has sent back; its new outcome replaces the old one in the scope. */
  readonly rerunPhase: (again: Rerun) => Promise<PhaseOutcome>;
  /** Work whose result nobody waits for (losers of a race that may finish); the run ends after it. */
  readonly background: Set<Promise<unknown>>;
  /** Named by `--from`, and all phases after it. */
  readonly following: ReadonlySet<string>;
  /** How many executions there were, to name the next one. */
  readonly executions: { count: number };
  /** How many processes were started, and how many of them can be found by their mark wherever they are. */
  readonly processes: { started: number; marked: number };
  /** A result line of this run's own journal. */
  readonly readBack: (place: LinePlace) => ResultLine | undefined;
  /** At the very end: holds the store to its bounds, if this run has added to it. Never fails the run. */
  readonly tidyStore: () => Promise<void>;
  /** Stops timers and listeners of the run. */
  readonly close: () => void;
  /** Aborted on interrupt and on the run's own time limit; its reason is a `Failure`. */
  readonly signal: AbortSignal;
  /** When the run's own time is over, on the clock that counts `elapsed`; undefined when it has as long as it likes. */
  readonly endsAt?: number;
}
