import type { Failure } from '../model/failure.js';
import type { JsonObject } from '../model/json.js';
import type { Usage } from '../model/outcome.js';
import type { ChildIdentity, Trace } from '../process/process.js';

/** One agent call, fully resolved. */
export interface RunnerRequest {
  readonly task: string;
  readonly systemPrompt?: string;
  readonly model?: string;
  readonly thinking?: string;
  readonly tools?: readonly string[];
  /** `json`: the answer must be one JSON object, where the runner can enforce that. */
  readonly answer?: 'json';
  /** Absolute. */
  readonly cwd: string;
  readonly projectRoot: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly signal: AbortSignal;
  /** A longer answer is a failure. Default: the limit of the settings. */
  readonly maxOutputBytes?: number;
  /** Hides the secrets of the run in a text that is written down. */
  readonly mask?: (text: string) => string;
  readonly onEvent?: (event: RunnerEvent) => void;
  /** Gets pieces of the answer's text, in order. Undefined: the runner need not cut them out. */
  readonly onText?: (piece: string) => void;
  readonly onChildStart?: (child: ChildIdentity) => void;
  /** Follows the client and everything it starts. A runner without a process leaves it alone. */
  readonly trace?: Trace;
}

/** Progress, for people. */
export type RunnerEvent =
  | { readonly type: 'model'; readonly model: string }
  | { readonly type: 'turn'; readonly turns: number }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'tool'; readonly name: string; readonly detail?: string };

export interface RunnerResult {
  readonly text: string;
  /** The model that answered, where the client says. */
  readonly model?: string;
  readonly usage: Usage;
  /** Only `complete` is success. */
  readonly stopReason: 'complete' | 'length' | 'refusal' | 'error' | 'cancelled';
  readonly filesRead: readonly string[];
  /** As the client reported them: absolute, or relative to the request's cwd. */
  readonly filesWritten: readonly string[];
  readonly turns: number;
  readonly usedTools: boolean;
  readonly permissionDenied: boolean;
  /** For which tools, where the client says. */
  readonly deniedTools?: readonly string[];
  /** Client version, where the stream says it without another process; recorded in the entry, not in the key. */
  readonly clientVersion?: string;
  /** Set exactly when stopReason is not `complete`. */
  readonly failure?: Failure;
}

/**
 * Turns a request into events and one result. A runner never throws and never hangs past its limit; every failure is a
 * value with a cause; when it returns, no process of it is left.
 */
export interface Runner {
  /** Name in the configuration (`pi`, `local`, `mine` …). */
  readonly name: string;
  readonly type: 'pi' | 'claude' | 'codex' | 'openai' | 'command';
  /** False: money is unknown with this runner, and a budget in money is refused before the run starts. */
  readonly reportsCost: boolean;
  /** It can force the model to answer in JSON (`answer` of the request). */
  readonly canAnswerJson?: true;
  /** The part of its configuration that decides an answer (argv, format, base URL …), for the identity. No secrets. */
  readonly settings: JsonObject;
  readonly defaultModel?: string;
  /** Calls at once and per minute, where the configuration bounds them. */
  readonly concurrency?: number;
  readonly ratePerMinute?: number;
  run(request: RunnerRequest): Promise<RunnerResult>;
  /** What `version` starts or requests, for messages; undefined where it does neither. */
  readonly probe?: string;
  /** For `pinVersion` and `doctor --probe`: asks the client itself. */
  version(): Promise<{ readonly version: string } | { readonly failure: Failure }>;
}
