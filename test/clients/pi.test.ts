import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeClient } from './client-suite.js';

describeClient({
  type: 'pi',
  model: 'scripted',
  config: { provider: 'loopback' },
  prepare(home, url) {
    const folder = join(home, '.pi', 'agent');
    mkdirSync(folder, { recursive: true });
    const cost = { input: 1, output: 2, cacheRead: 0.5, cacheWrite: 0 };
    const model = { id: 'scripted', reasoning: false, input: ['text'], cost, contextWindow: 900_000, maxTokens: 1_000 };
    const provider = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'LOOPBACK_KEY', models: [model] };
    writeFileSync(join(folder, 'models.json'), JSON.stringify({ providers: { loopback: provider } }));
    // Its own three retries take fourteen seconds.
    writeFileSync(join(folder, 'settings.json'), JSON.stringify({ retry: { enabled: false } }));
    return { LOOPBACK_KEY: 'k' };
  },
  reports: { model: true, cost: true, filesRead: true, version: false },
  retries: true,
  // It does for a ChatGPT account; a server like this one only has its message shown.
  subscription: { saysWhen: false },
});
