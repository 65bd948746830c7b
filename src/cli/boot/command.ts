import type { Called } from '../../mcp/host.js';
import type { Project } from '../../util/project.js';
import type { FlagSpec } from '../flags/flag-spec.js';
import type { FlagValues } from '../flags/flags.js';

export type { FlagSpec } from '../flags/flag-spec.js';

/**
 * One command of the command line, in a module of its own that is loaded only when the command is typed. Its name and
 * one-line summary are in the registry, where `taskflow --help` finds them without loading anything.
 */
export interface Command {
  /** What follows `taskflow` and the name: `FLOW… [flags]`. */
  readonly usage: string;
  /** A paragraph under the usage line, where the summary does not say enough. */
  readonly description?: string;
  /** At least one: a whole command line and what it does. */
  readonly examples: readonly CommandExample[];
  readonly flags: readonly FlagSpec[];
  readonly positionals: readonly PositionalSpec[];
  /** `--help` after a positional argument, where there is more to say of that one than of the command. */
  help?(invocation: Invocation): Promise<number>;
  /** True where it concerns the user alone: then it also works in a folder that is not trusted. */
  withoutProject?(flags: FlagValues): boolean;
  /** Prints results to `out`, everything else to `err`; resolves to the exit status (see `EXIT`). Only bugs throw. */
  run(invocation: Invocation, call: CallCommand): Promise<number>;
}

/** Runs another command of ours in this process, for the same project, and gives what it printed. */
export type CallCommand = (args: readonly string[]) => Promise<Called>;

export interface CommandExample {
  readonly command: string;
  readonly does: string;
}

export interface PositionalSpec {
  readonly name: string;
  readonly help: string;
  readonly required: boolean;
  /** Only these values are accepted. */
  readonly choices?: readonly string[];
  /** Takes all that are left; only the last may. */
  readonly many?: boolean;
}

/** One call of a command. */
export interface Invocation {
  /** The command's full name: `cache status`. */
  readonly command: string;
  readonly flags: FlagValues;
  readonly positionals: readonly string[];
  readonly project: Project;
  /** Absolute; `--cwd` or the process's own. Paths that the person typed are relative to it. */
  readonly cwd: string;
  /** Results. */
  readonly out: Writer;
  /** Progress, warnings, errors. */
  readonly err: Writer;
  readonly stdin: InputSource;
}

export interface Writer {
  /**
   * Written at once. A reader that went away (`| head`) is no error: the rest is dropped. On a terminal, and always on
   * stderr, nothing in it acts but styles; in CI no line is a command. Results that are piped stay as they are.
   */
  write(text: string): void;
  /** A value as indented JSON; whoever only captures it gets the value itself. */
  json(value: unknown): void;
  /** For text that the program itself wrote: it may move the cursor. */
  draw(text: string): void;
  /** A line that the CI system is to obey. */
  command(line: string): void;
  readonly isTerminal: boolean;
  /** May be drawn on: a terminal, and not in CI. */
  readonly isLive: boolean;
  readonly color: boolean;
  /** Of the terminal; 80 and 24 where there is none. Read again after a resize. */
  readonly columns: number;
  readonly rows: number;
  /** Calls back whenever the terminal changes its size; returns how to stop. */
  onResize(listener: () => void): () => void;
}

export interface InputSource {
  readonly isTerminal: boolean;
  /** All of it, to its end. */
  readAll(): Buffer;
}
