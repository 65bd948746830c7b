import type { ResolvedRunner, RunnerChoice } from '../../agent/resolve-runner.js';
import type { Config } from '../../model/config.js';
import type { Failure } from '../../model/failure.js';
import type { AssembleSpec, Flow } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import type { Usage } from '../../model/outcome.js';
import type { Project } from '../../util/project.js';
import type { World } from '../context/world.js';
import type { MadePhase, MadeUnit, ReusedWork } from './made-phase.js';
import type { UnitSender } from './unit-job.js';

/** Everything a surface decides about a run. The flow is checked, the arguments are bound. */
export interface RunOptions {
  readonly project: Project;
  readonly config: Config;
  readonly flow: Flow;
  readonly source: FlowOrigin;
  readonly args: JsonObject;
  /** `off`: neither read nor write reuse; `refresh`: write, but do not read. */
  readonly reuse?: 'on' | 'refresh' | 'off';
  /** Whether the shared store is used, if one is configured. Default: `on`; for a forecast, which only looks, `off`. */
  readonly remote?: 'on' | 'off';
  readonly frozen?: boolean;
  /** Only look: nothing is executed, written or waited for; what would run is `cancelled` with code `forecast`. */
  readonly forecast?: boolean;
  /** The flow was made by a model: it is held to the limits for generated flows, as is everything inside. */
  readonly generated?: boolean;
  /** A phase that is not idempotent fails instead of starting: the flow is only tried. */
  readonly refuseEffects?: boolean;
  readonly keepGoing?: boolean;
  readonly concurrency?: number;
  readonly maxUSD?: number;
  readonly runner?: string;
  readonly model?: string;
  /** Who answers agent phases, instead of the runners of the settings. */
  readonly resolveRunner?: (choice: RunnerChoice) => Promise<ResolvedRunner>;
  /** For the whole run. */
  readonly timeoutMs?: number;
  /** False: where a provider's usage limit is reached, the phases pause instead of waiting for its reset. */
  readonly waitForLimits?: boolean;
  readonly selection?: Selection;
  readonly continuation?: Continuation;
  /** Asks a person. Without it, or when it answers `pause`, the run pauses at an approval. */
  readonly approve?: (request: ApprovalRequest) => Promise<ApprovalAnswer>;
  /** Asks a person about a side effect that is done and would now be another one. Without it the run stops there. */
  readonly decideEffect?: (question: EffectQuestion) => Promise<EffectAnswer>;
  /** Has the flow of a phase with `assemble` made, or takes the one that is there. Without it such a phase fails. */
  readonly assemble?: (wanted: WantedFlow) => Promise<MadeFlow>;
  /** Has units done on other machines. Without it every unit is done here. */
  readonly workers?: UnitSender;
  readonly signal?: AbortSignal;
  /** How much is shown of what an agent does while it works: all of it (the default), no text, or nothing. */
  readonly progress?: 'all' | 'steps' | 'none';
  /** A program that tidies a large store while nobody waits; without it the run does so before it ends. */
  readonly tidier?: string;
  /** A fingerprint resolver that was opened before the run, with what it knows already. */
  readonly world?: World;
  /** Called for each phase of the flow itself that was reused or made: `run/snapshot` collects them. */
  readonly onMade?: (made: MadePhase) => void;
  /** Runs in a process of its own, under an id that was given out before it began. */
  readonly detachedAs?: string;
  /** Called with each file or glob that is put before a task, as it is looked for. */
  readonly onContext?: (pattern: string) => void;
  /** Called for each item, branch and iteration that was reused or made. */
  readonly onUnit?: (made: MadeUnit) => void;
  /** Called for each result that the store had: `run/forecast/audit` executes some of them again. */
  readonly onReused?: (reused: ReusedWork) => void;
  /** The flow is run once for each of many rows; `over` names the list of them. */
  readonly batch?: { readonly over: string; readonly total: number; readonly rowFlags?: readonly string[] };
}

/** A flow that a phase wants assembled. */
export interface WantedFlow extends Pick<RunOptions, 'project' | 'config' | 'waitForLimits'> {
  readonly spec: AssembleSpec;
  /** Only look: nothing is planned. */
  readonly forecast: boolean;
  /** What the run may still spend; undefined without a budget in money. */
  readonly leftUSD?: number;
  readonly signal: AbortSignal;
  /** Progress, for people. */
  readonly say: (text: string) => void;
  readonly warn: (message: string) => void;
}

/** `usage`: what planning has cost in this run. */
export type MadeFlow = { readonly usage: Usage } & (
  | { readonly flow: Flow; readonly generated: boolean }
  | { readonly failure: Failure }
);

/** How the flow was named and where it came from. */
export interface FlowOrigin {
  readonly ref: string;
  /** A saved flow run by its name never continues by itself. */
  readonly byName: boolean;
  /** Absolute; absent for a flow that came from memory. */
  readonly file?: string;
  readonly digest?: string;
  /** Files that it is made of, other flows among them: what they say is in the keys. */
  readonly files?: readonly string[];
}

/** Partial runs. Phases outside of the selection keep the output of the last run. */
export interface Selection {
  readonly only?: string;
  readonly from?: string;
  readonly until?: string;
  readonly rerun?: readonly string[];
  readonly skip?: readonly string[];
}

export type Continuation =
  /** By itself, if the last run of the same file and arguments is unfinished. `finished`: a finished one too. */
  | { readonly how: 'auto'; readonly finished: boolean }
  | { readonly how: 'fresh' }
  /** That run (or its latest successor), whatever it ended as; approvals and gates that passed are kept. */
  | { readonly how: 'resume'; readonly runId: string }
  /** An exported checkpoint: journal lines from elsewhere. */
  | { readonly how: 'checkpoint'; readonly file: string };

export interface ApprovalRequest {
  readonly phase: string;
  readonly text: string;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

export type ApprovalAnswer =
  | { readonly decision: 'approve' | 'reject'; readonly note?: string }
  | { readonly decision: 'pause' };

/** `before`: what it was made of when it was done; `now`: what it would be made of. */
export interface EffectQuestion {
  readonly phase: string;
  readonly unit?: string;
  readonly before: JsonObject;
  readonly now: JsonObject;
  readonly signal: AbortSignal;
}

/** Do it again, keep it as done, or leave it open. */
export type EffectAnswer = 'rerun' | 'keep' | 'stop';
