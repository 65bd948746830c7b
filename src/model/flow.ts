import type { Hooks } from './hooks.js';
import type { JsonObject, JsonValue } from './json.js';
import type { Kind } from './kind.js';
import type { Observing } from './observation.js';

/**
 * A flow that has been checked: shorthand expanded, defaults applied, durations in milliseconds, edges computed. It is
 * plain JSON, so that a checked flow can be kept on disk by the digest of its file; templates and conditions stay text,
 * which is known to parse, and are compiled when they are used. Nothing downstream checks again.
 */
export interface Flow {
  readonly name: string;
  readonly description?: string;
  /** Path of the file relative to the project root (absolute outside it); undefined for inline and generated flows. */
  readonly file?: string;
  readonly args: Readonly<Record<string, ArgSpec>>;
  /** Undefined: the settings decide; their default is 8. */
  readonly concurrency?: number;
  readonly budget?: Budget;
  readonly hooks?: Hooks;
  readonly runner?: string;
  readonly model?: string;
  readonly thinking?: string;
  readonly agentScope: AgentScope;
  readonly idleTimeoutMs: number;
  readonly incremental: boolean;
  readonly strictInterpolation: boolean;
  /** In file order. */
  readonly phases: readonly Phase[];
  /** Id of the phase whose output is the flow's result. */
  readonly result: string;
}

/** Defaults for agent phases, which flows inside this flow inherit. */
export type AgentDefaults = Pick<Flow, 'runner' | 'model' | 'thinking'>;

export type AgentScope = 'user' | 'project' | 'both';

export interface Budget {
  readonly maxUSD?: number;
  readonly maxTokens?: number;
}

export interface ArgSpec {
  readonly type: 'string' | 'number' | 'boolean' | 'enum' | 'path' | 'json';
  readonly default?: JsonValue;
  readonly description?: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly values?: readonly JsonValue[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** No type was declared: any value is used unchanged, and text stays text. */
  readonly untyped?: boolean;
}

/** One dependency. `referenced`: the phase mentions the other's output, so the rendered text brings it into the key. */
export interface Edge {
  readonly id: string;
  readonly referenced: boolean;
}

export interface Retry {
  readonly max: number;
  readonly backoffMs: number;
  readonly factor: number;
}

/** What the flow allows, decided by the check. A look-up gives a Hit or a Miss. */
export interface CachePolicy {
  readonly scope: 'off' | 'run-only' | 'cross-run';
  readonly ttlMs?: number;
  readonly fingerprint: readonly string[];
  /** The flow has a fingerprint list: its inputs are declared. An empty list means that nothing outside matters. */
  readonly named: boolean;
  /** Cross-run only because the flow is `incremental`, and no fingerprint was named: `git:worktree` is used. */
  readonly implied: boolean;
  /** The flow's own settings for observing; the configuration decides the rest. */
  readonly observe?: Partial<Observing>;
}

/** Fields of every kind. */
export interface PhaseBase {
  readonly id: string;
  readonly kind: Kind;
  readonly description?: string;
  /** Position in the flow's file, for messages. */
  readonly line?: number;
  readonly column?: number;
  readonly needs: readonly Edge[];
  readonly join: 'all' | 'any';
  readonly when?: string;
  readonly optional: boolean;
  readonly final: boolean;
  /** Undefined: not set, so an idempotent agent phase retries transient provider errors by itself. */
  readonly retry?: Retry;
  readonly timeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly idempotent: boolean;
  readonly output: 'text' | 'json';
  readonly expect?: JsonObject;
  /** A folder inside the project (may hold placeholders), or one of the words `temp`, `dedicated`, `worktree`. */
  readonly cwd?: string;
  readonly context: readonly string[];
  readonly contextLimit: number;
  readonly cache: CachePolicy;
  readonly outputs: readonly string[];
  readonly concurrency?: number;
}

/** One agent call. Unset fields fall back to the phase's agent file, then the flow, then the configuration. */
export interface TaskBody {
  readonly type: 'task';
  readonly task: string;
  readonly agent?: string;
  readonly runner?: string;
  readonly model?: string;
  readonly thinking?: string;
  readonly tools?: readonly string[];
  readonly systemPrompt?: string;
}

/** One process: an argv list (never a shell), or one string for `sh -c` (never with placeholders). */
export interface RunBody {
  readonly type: 'run';
  readonly run: string | readonly string[];
  readonly input?: string;
  readonly env: Readonly<Record<string, string>>;
}

/** One run of another flow. */
export interface UseBody {
  readonly type: 'use';
  readonly use: string;
  readonly with: Readonly<Record<string, JsonValue>>;
}

export interface Branch {
  /** As written, or `branch-N` (from 1). Unique within its phase. */
  readonly id: string;
  readonly body: TaskBody | RunBody;
  readonly cwd?: string;
}

export interface AgentPhase extends PhaseBase {
  readonly kind: 'agent';
  readonly body: TaskBody;
}
export interface ScriptPhase extends PhaseBase {
  readonly kind: 'script';
  readonly body: RunBody;
}
export interface ParallelPhase extends PhaseBase {
  readonly kind: 'parallel';
  readonly branches: readonly Branch[];
}
export interface MapPhase extends PhaseBase {
  readonly kind: 'map';
  /** A template that yields a list, or the list itself (its strings may hold placeholders). */
  readonly over: string | readonly JsonValue[];
  readonly as: string;
  readonly body: TaskBody | RunBody | UseBody;
}
export interface ReducePhase extends PhaseBase {
  readonly kind: 'reduce';
  readonly from: readonly string[];
  readonly body: TaskBody;
  readonly strategy: 'one-shot' | 'tree';
  readonly batchSize: number;
}
export interface GatePhase extends PhaseBase {
  readonly kind: 'gate';
  readonly eval: readonly string[];
  readonly body?: TaskBody;
  readonly score?: Score;
  readonly onBlock: 'halt' | 'retry';
}
export interface ApprovalPhase extends PhaseBase {
  readonly kind: 'approval';
  readonly task: string;
  /** The decision when `timeoutMs` is over; undefined: none, the run stays paused. */
  readonly onExpire?: Expiry;
}
export type Expiry = 'reject' | 'approve' | 'fail';
export interface FlowPhase extends PhaseBase {
  readonly kind: 'flow';
  readonly source: FlowSource;
  readonly with: Readonly<Record<string, JsonValue>>;
}
export interface LoopPhase extends PhaseBase {
  readonly kind: 'loop';
  readonly body: TaskBody;
  readonly until?: string;
  readonly maxIterations: number;
  readonly convergence: boolean;
  readonly reflexion: boolean;
}
export interface TournamentPhase extends PhaseBase {
  readonly kind: 'tournament';
  /** `variants` calls of one task, or the branches. */
  readonly body?: TaskBody;
  readonly variants: number;
  readonly branches: readonly Branch[];
  readonly judge?: string;
  /** Runner fields of the judge's call; its task is made from `judge`. */
  readonly judgeBody: TaskBody;
  readonly mode: 'best' | 'aggregate';
}
export interface RacePhase extends PhaseBase {
  readonly kind: 'race';
  readonly branches: readonly Branch[];
  readonly cancelLosers: boolean;
}
export interface ExpandPhase extends PhaseBase {
  readonly kind: 'expand';
  readonly source: FlowSource;
  /** Arguments of the fragment, as in a `flow` phase. */
  readonly with?: Readonly<Record<string, JsonValue>>;
  readonly mode: 'nested' | 'graft';
  readonly maxNodes: number;
}

export type Phase =
  | AgentPhase
  | ScriptPhase
  | ParallelPhase
  | MapPhase
  | ReducePhase
  | GatePhase
  | ApprovalPhase
  | FlowPhase
  | LoopPhase
  | TournamentPhase
  | RacePhase
  | ExpandPhase;

/** Where a nested flow comes from. */
export type FlowSource =
  /** A saved flow's name or a path; may hold placeholders. */
  | { readonly from: 'use'; readonly use: string }
  /** Written in this file, trusted and checked with it. */
  | { readonly from: 'inline'; readonly flow: Flow }
  /** A template whose value is a flow made at run time: untrusted, checked when it is known. */
  | { readonly from: 'generated'; readonly def: string }
  /** Planned by an agent once and reused from then on: untrusted, checked at each use. */
  | { readonly from: 'assemble'; readonly assemble: AssembleSpec };

/** The request for a flow in a phase with `assemble`. */
export interface AssembleSpec {
  readonly task: string;
  readonly input: JsonObject;
  readonly output: JsonObject;
  readonly examples: readonly JsonObject[];
  readonly maxRounds?: number;
  readonly maxUSD?: number;
}

export interface Score {
  readonly target: string;
  readonly scorers: readonly Scorer[];
  readonly combine: 'all' | 'any' | 'weighted';
  readonly weights?: readonly number[];
  readonly threshold: number;
  readonly judge?: TaskBody;
}

export type Scorer = { readonly name?: string; readonly negate?: boolean } & (
  | { readonly type: 'exact-match'; readonly value: JsonValue }
  | { readonly type: 'contains'; readonly value: string; readonly caseSensitive?: boolean }
  | { readonly type: 'regex'; readonly pattern: string; readonly flags?: string }
  | { readonly type: 'json-schema'; readonly schema: JsonObject }
  | { readonly type: 'length-range'; readonly min?: number; readonly max?: number }
  | { readonly type: 'code-compiles'; readonly language: 'javascript' | 'typescript' }
);
