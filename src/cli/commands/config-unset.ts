import type { Command } from '../command.js';
import { changeConfig } from '../config-change.js';

export const command: Command = {
  usage: 'KEY [--user]',
  examples: [{ command: 'taskflow config unset runner', does: 'the default holds again' }],
  flags: [{ name: 'user', type: 'boolean', help: 'in your own settings, for all projects' }],
  positionals: [{ name: 'KEY', help: 'such as runner, cache.maxBytes or iteration', required: true }],
  run: (invocation) => changeConfig(invocation, undefined),
};
