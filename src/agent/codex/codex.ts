import type { Client } from '../client.js';
import { buildCodexCommand } from './build-command.js';
import { foldCodex } from './fold.js';

export const codex: Client = {
  type: 'codex',
  reportsCost: false,
  build: buildCodexCommand,
  fold: foldCodex,
  install: 'npm install -g @openai/codex',
};
