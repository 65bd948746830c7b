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
};
