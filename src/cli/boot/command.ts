import type { Called } from '../../mcp/host.js';
import type { Project } from '../../util/project.js';
import type { FlagSpec } from '../flags/flag-spec.js';
import type { FlagValues } from '../flags/flags.js';

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
  /** `--help` after a positional argument, where that argument has a help of its own. */
  help?(invocation: Invocation): Promise<number>;
  /** True where only the user is concerned: then it also works in a folder that is not trusted. */
  withoutProject?(flags: FlagValues): boolean;
  /** Prints results to `out`, everything else to `err`; resolves to the exit status (see `EXIT`). Only bugs throw. */
  run(invocation: Invocation, call: CallCommand): Promise<number>;
}

/** Runs another command of ours in this process, for the same project, and returns what it printed. */
export type CallCommand = (args: readonly string[]) => Promise<Called>;

interface CommandExample {
  readonly command: string;
  readonly does: string;
}

interface PositionalSpec {
  readonly name: string;
  readonly help: string;
  readonly required: boolean;
  /** Only these values are accepted. */
  readonly choices?: readonly string[];
  /** Takes all remaining arguments; allowed only for the last one. */
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
   * Writes at once. A reader that went away (`| head`) is no error: the rest is dropped. On a terminal, and always on
   * stderr, control sequences other than styles are removed; in CI no line is a command. Piped results stay unchanged.
   */
  write(text: string): void;
  /** Writes a value as indented JSON; a capturing writer keeps the value itself. */
  json(value: unknown): void;
  /** For text that the program itself wrote: it may move the cursor. */
  draw(text: string): void;
  /** Writes a line that the CI system reads as a command. */
  command(line: string): void;
  readonly isTerminal: boolean;
  /** It can show a live picture: a terminal, and not in CI. */
  readonly isLive: boolean;
  readonly color: boolean;
  /** Size of the terminal; 80 and 24 where there is none. Read again after a resize. */
  readonly columns: number;
  readonly rows: number;
  /** Calls back whenever the terminal changes its size; returns how to stop. */
  onResize(listener: () => void): () => void;
}

export interface InputSource {
  readonly isTerminal: boolean;
  /** Reads to the end. */
  readAll(): Buffer;
}
