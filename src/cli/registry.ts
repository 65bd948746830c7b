import type { Command } from './command.js';

export interface CommandEntry {
  /** One word, or two for a sub-command: `cache status`. */
  readonly name: string;
  readonly summary: string;
  /** Loads the one module that the command needs. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Every command, in the order of `taskflow --help`. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'config list',
    summary: 'every setting, its value and where it comes from',
    load: () => import('./commands/config-list.js'),
  },
  { name: 'config get', summary: 'the value of one setting', load: () => import('./commands/config-get.js') },
  { name: 'config set', summary: 'change a setting', load: () => import('./commands/config-set.js') },
  { name: 'config unset', summary: 'forget a setting', load: () => import('./commands/config-unset.js') },
];

export function findCommand(name: string): CommandEntry | undefined {
  return COMMANDS.find((entry) => entry.name === name);
}

/** Sub-commands of a first word: `cache` has several, `run` none. */
export function subCommands(word: string): readonly CommandEntry[] {
  return COMMANDS.filter((entry) => entry.name.startsWith(`${word} `));
}
