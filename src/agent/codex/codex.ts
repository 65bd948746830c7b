import type { Client } from '../client.js';
import { buildCodexCommand } from './build-command.js';
import { foldCodex } from './fold.js';

export const codex: Client = {
  type: 'codex',
  reportsCost: false,
  build: buildCodexCommand,
  fold: foldCodex,
  variables: ['CODEX_*', 'OPENAI_*'],
  install: 'npm install -g @openai/codex',
  advice: {
    key: 'log in with `codex login`, or set the variable that ~/.codex/config.toml names as `env_key`',
    server: 'are you online? is `base_url` in ~/.codex/config.toml right, and its server up?',
  },
};
