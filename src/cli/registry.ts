import type { Command } from './command.js';

export interface CommandEntry {
  /** One word, or two for a sub-command: `cache status`. */
  readonly name: string;
  readonly summary: string;
  /** Loads the one module that the command needs. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Every command, in the order of `taskflow --help`. */
export const COMMANDS: readonly CommandEntry[] = [];

export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name);
}

/** Sub-commands of a first word: `cache` has several, `run` none. */
export function subCommands(word: string): readonly CommandEntry[] {
  return COMMANDS.filter((entry) => entry.name.startsWith(`${word} `));
}
