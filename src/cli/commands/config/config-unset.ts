import type { Command } from '../../boot/command.js';
import { CHANGE_FLAGS, changeConfig } from '../../load/config-change.js';

export const command: Command = {
  usage: 'KEY [--user] [--json]',
  examples: [
    { command: 'taskflow config unset runner', does: 'the default holds again' },
    { command: 'taskflow config unset runners.mine', does: 'remove a runner of your own, with all that is said of it' },
  ],
  flags: CHANGE_FLAGS,
  withoutProject: (flags) => flags.boolean('user'),
  positionals: [{ name: 'KEY', help: 'such as runner, cache.maxBytes, iteration or runners.NAME', required: true }],
  run: (invocation) => changeConfig(invocation, undefined),
};
