import type { FlagSpec } from './flag-spec.js';

/** Accepted by every command, before its name or after it. */
export const GLOBAL_FLAGS: readonly FlagSpec[] = [
  { name: 'help', alias: 'h', type: 'boolean', help: 'show this help' },
  { name: 'cwd', type: 'string', value: 'DIR', help: 'work as if started in DIR' },
  { name: 'root', type: 'string', value: 'DIR', help: 'DIR is the project, whatever lies above it' },
  {
    name: 'color',
    type: 'string',
    value: 'WHEN',
    choices: ['auto', 'always', 'never'],
    optionalValue: /^(auto|always|never)$/,
    help: 'auto (only on a terminal), always or never',
  },
  { name: 'no-color', type: 'boolean', help: 'no colours', hidden: true },
];
