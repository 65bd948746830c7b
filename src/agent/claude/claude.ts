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
  advice: {
    key: 'is ANTHROPIC_API_KEY right, or unset where you are logged in? or log in: start claude, type /login',
    server: 'are you online? if ANTHROPIC_BASE_URL is set: is it right, and its server up?',
  },
};
