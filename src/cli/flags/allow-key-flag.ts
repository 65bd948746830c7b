import type { FlagSpec } from './flag-spec.js';

/** Of the commands that send keys. */
export const ALLOW_KEY_FLAG: FlagSpec = {
  name: 'allow-key',
  type: 'list',
  value: 'NAME=URL',
  help: 'the key in this variable may go to this address, though the project chose it',
};
