import { describeClient } from './client-suite.js';

describeClient({
  type: 'claude',
  model: 'claude-sonnet-4-5',
  prepare: (_home, url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'k',
    CLAUDE_CODE_MAX_RETRIES: '1',
  }),
  reports: { model: true, cost: true, filesRead: true, version: true },
  retries: true,
  subscription: { env: { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-scripted' }, saysWhen: true },
});
