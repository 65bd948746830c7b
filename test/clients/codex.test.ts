import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeClient } from './client-suite.js';

describeClient({
  type: 'codex',
  model: 'scripted',
  config: { env: ['LOOPBACK_KEY'] },
  prepare(home, url) {
    const folder = join(home, '.codex');
    mkdirSync(folder);
    const settings = [
      'model_provider = "loopback"',
      '[model_providers.loopback]',
      'name = "loopback"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      'env_key = "LOOPBACK_KEY"',
      'request_max_retries = 0',
      'stream_max_retries = 0',
    ];
    writeFileSync(join(folder, 'config.toml'), settings.join('\n'));
    return { LOOPBACK_KEY: 'k', CODEX_HOME: folder };
  },
  reports: { model: false, cost: false, filesRead: false, version: false },
  retries: false,
  subscription: { saysWhen: true },
});
