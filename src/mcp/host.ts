import type { RunEvent } from '../model/event.js';

/** What a command printed, and how it ended. */
export interface Called {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The value on stdout, where the command ran in this process and wrote one. */
  readonly json?: unknown;
}

/** A question of a run, as it was shown. */
export interface Question {
  readonly phase: string;
  readonly text: string;
  readonly digest: string;
  /** `approve` or `reject`, if it is decided. */
  readonly decided?: string;
}

/** For a command that takes a while. */
export interface Watching {
  readonly signal: AbortSignal;
  /** A line of its progress, as a terminal shows it. */
  readonly onLine: (line: string) => void;
}

/** What the command line lends to the server: each tool is one of its commands. */
export interface McpHost {
  /** The user's name. */
  readonly user: string | undefined;
  /** Runs a command in this process. */
  call(args: readonly string[]): Promise<Called>;
  /** Runs a command in another process, which the signal ends with all that it started. */
  execute(args: readonly string[], watching: Watching): Promise<Called>;
  /** Ends all these processes at once. */
  killAll(): void;
  /** Starts a run that outlives the server; or says why it did not begin. */
  start(args: readonly string[]): Promise<{ readonly runId: string } | Called>;
  /** The events of a run from its beginning, until it ends or the signal is aborted. */
  follow(runId: string, signal: AbortSignal): AsyncIterable<RunEvent>;
  /** How many runs of the project are under way. */
  underWay(): number;
  /** RUN as a person types it, and what that run asks. */
  questions(run: string): { readonly runId: string; readonly waiting: readonly Question[] } | ToolProblem;
  /** What is wrong with FLOW, which must be a saved flow's name or a file of the project. */
  flowProblem(flow: string): string | undefined;
}

/** One clear sentence for the client. */
export interface ToolProblem {
  readonly problem: string;
}
