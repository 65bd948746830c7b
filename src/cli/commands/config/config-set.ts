import type { Command } from '../../boot/command.js';
import { CHANGE_FLAGS, changeConfig } from '../../load/config-change.js';

export const command: Command = {
  usage: 'KEY VALUE [--user] [--json]',
  description: 'The value is checked before anything is written; comments in the file stay.',
  examples: [
    { command: 'taskflow config set runner pi', does: 'every flow of this project uses pi' },
    { command: 'taskflow config set iteration off --user', does: 'never continue an unfinished run by itself' },
    { command: 'taskflow config set runners.mine.command "[node, agent.mjs]"', does: 'a runner of your own' },
  ],
  flags: CHANGE_FLAGS,
  withoutProject: (flags) => flags.boolean('user'),
  positionals: [
    { name: 'KEY', help: 'such as runner, cache.maxBytes or iteration', required: true },
    { name: 'VALUE', help: 'text, a number, 500MB, 24h, [a, list]', required: true },
  ],
  run: (invocation) => changeConfig(invocation, invocation.positionals[1]!),
};
