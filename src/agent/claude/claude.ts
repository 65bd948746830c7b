import type { Client } from '../client.js';
import { buildClaudeCommand } from './build-command.js';
import { foldClaude } from './fold.js';

export const claude: Client = {
  type: 'claude',
  reportsCost: true,
  build: buildClaudeCommand,
  fold: foldClaude,
  install: 'npm install -g @anthropic-ai/claude-code',
};
