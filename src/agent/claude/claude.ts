import type { Client } from '../client.js';
import { buildClaudeCommand } from './build-command.js';
import { foldClaude } from './fold.js';

export const claude: Client = {
  type: 'claude',
  reportsCost: true,
  build: buildClaudeCommand,
  fold: foldClaude,
  variables: ['CLAUDE_*', 'ANTHROPIC_*', 'MAX_THINKING_TOKENS'],
  install: 'npm install -g @anthropic-ai/claude-code',
};
