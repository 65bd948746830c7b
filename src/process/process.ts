import type { Failure } from '../model/failure.js';

/** The one way to start a process: in a group of its own, streamed, bounded in time, ended with all its descendants. */
export interface ProcessRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What stdin holds: these bytes, or a file. Undefined: it is empty. */
  readonly input?: string | Buffer | { readonly file: string };
  readonly timeoutMs?: number;
  /** Ends the process when neither stream wrote anything for that long. */
  readonly idleTimeoutMs?: number;
  readonly signal?: AbortSignal;
  /**
   * Called with each chunk of stdout as it comes; the whole is in the result unless `keepStdout` is false. To return a
   * failure ends the process.
   */
  readonly onStdout?: (chunk: Buffer) => Failure | undefined;
  /** The same for stderr, of which the result has only the end. */
  readonly onStderr?: (chunk: Buffer) => void;
  readonly keepStdout?: boolean;
  /** Kept stdout beyond this ends the process, and is not in the result. Default: that of outputs. */
  readonly maxStdoutBytes?: number;
  /** Called once the process exists, for the journal. */
  readonly onStart?: (child: ChildIdentity) => void;
  /** Between TERM and KILL. */
  readonly graceMs?: number;
  /**
   * Also finds descendants that left the session and lost their parent (agents' tools do that), by a variable in their
   * environment. It costs a look at all processes after the end, so scripts are not marked.
   */
  readonly marked?: boolean;
  /** A tracer that sees every system call about files. It starts and ends with the process. */
  readonly trace?: Trace;
}

/** Starts a process under a tracer, and reads what the tracer writes. */
export interface Trace {
  /** The argv that starts the program under the tracer; undefined where the tracer would start it differently. */
  wrap(request: ProcessRequest, to: TraceTarget): readonly string[] | undefined;
  add(chunk: Buffer): void;
  /** Ids of processes whose start it has seen, but not their end. */
  alive(): Iterable<number>;
  /** Called when the trace is complete; not if the process was not traced to its end. */
  close(): void;
}

export interface TraceTarget {
  /** The file that the tracer writes to. */
  readonly path: string;
  /** Variables for the process alone, not for its tracer. */
  readonly env: Readonly<Record<string, string>>;
}

/** Enough to distinguish a process from a later one with the same id. */
export interface ChildIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot, as in /proc/PID/stat; undefined where there is no /proc. */
  readonly startTicks?: number;
  /** `NAME=value` that only this process and its descendants were started with, where one was given. */
  readonly mark?: string;
}

export interface ProcessResult {
  /** Whole stdout, byte for byte. */
  readonly stdout: Buffer;
  /** The last 8 KiB of stderr. */
  readonly stderrTail: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  /**
   * Undefined when the process ended by itself with status 0. Otherwise one of exit, signal, spawn, timeout,
   * idle-timeout, interrupted, limit. When a result is returned, no process of it is left.
   */
  readonly failure?: Failure;
}
