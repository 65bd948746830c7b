import type { UpstreamPart } from '../../memo/identity.js';
import type { Failure } from '../../model/failure.js';
import type { CachePolicy, PhaseBase } from '../../model/flow.js';
import type { JsonObject } from '../../model/json.js';
import type { OutputFile, Usage } from '../../model/outcome.js';
import type { Execution } from './execution.js';

/** What a unit does, with all placeholders filled in. */
export type RenderedBody = RenderedScript | RenderedTask;

export interface RenderedScript {
  readonly type: 'run';
  /** A list of words, or one text for `sh`. */
  readonly run: string | readonly string[];
  readonly input?: { readonly text: string } | { readonly base64: string };
  /** Names only: whoever executes it has the values, or makes another key. */
  readonly env: readonly string[];
}

export interface RenderedTask {
  readonly type: 'task';
  readonly task: string;
  /** The agent's part of the identity: runner, model, tools, system prompt. */
  readonly agent: JsonObject;
}

/** What another machine needs to do a unit. */
export interface Travelling {
  /** Undefined where it uses something that only this machine has. */
  readonly body: RenderedBody | undefined;
  /** As in the identity. */
  readonly cwd: string;
  readonly ordinal?: number;
  readonly role?: string;
  readonly plainOutput?: boolean;
}

/** A unit as another machine needs it to make the same key. Plain JSON. */
export interface UnitJob extends Travelling {
  readonly key: string;
  /** For messages: the run, and where in it. */
  readonly runId: string;
  readonly path: string;
  readonly unit?: string;
  readonly flow: { readonly name: string; readonly idleTimeoutMs: number };
  readonly phase: TravellingPhase;
  readonly body: RenderedBody;
  readonly upstream: readonly UpstreamPart[];
}

/** Entries of `cache.fingerprint`, `outputs` and `context` are rendered. */
type TravellingPhase = Pick<
  PhaseBase,
  'id' | 'kind' | 'retry' | 'timeoutMs' | 'idleTimeoutMs' | 'output' | 'expect' | 'context' | 'contextLimit' | 'outputs'
> & { readonly cache: CachePolicy };

/** A file that the unit declares, as it is here. Without a mode, that of the commit or a plain one. */
export type DeclaredFile = Pick<OutputFile, 'path' | 'digest'> & Partial<Pick<OutputFile, 'mode'>>;

/** How a unit went on another machine. The result of a done one is in the shared store. */
export type UnitAnswer =
  | ({ readonly done: true } & Partial<UnitEnd>)
  | ({ readonly failure: Failure; readonly status: Execution['status'] } & Partial<UnitEnd>)
  /** It is to be done here after all. */
  | { readonly stays: string; readonly usage?: Usage };

/** What the worker says of it; nobody does where only the result was found. */
interface UnitEnd {
  readonly worker: string;
  readonly usage: Usage;
  readonly durationMs: number;
  readonly attempts: number;
  readonly inputs?: JsonObject;
}

/** Progress of a unit on another machine. */
export interface UnitNews {
  readonly worker: string;
  readonly model?: string;
  readonly turns?: number;
  readonly usage?: Usage;
  readonly tool?: string;
  readonly text?: string;
}

/** Has units done on other machines. Given by a surface, so that a run without workers loads nothing of it. */
export interface UnitSender {
  /** How many units may be away at once, where neither the command line nor the flow says. */
  readonly concurrency: number;
  send(job: UnitJob, sending: Sending): Promise<UnitAnswer>;
}

export interface Sending {
  readonly files: readonly DeclaredFile[];
  readonly signal: AbortSignal;
  /** A worker has it. */
  readonly onBegun: () => void;
  readonly onNews: (news: UnitNews) => void;
  /** Whether the shared store has the result. */
  readonly isStored: () => Promise<boolean>;
}
