import { startBazelRules } from './bazel-rules.js';
import { contractOf } from './contract.js';

contractOf('a server with the rules of bazel-remote', async () => {
  const { url, stop } = await startBazelRules();
  const remote = { url, token: { env: 'CACHE_TOKEN' } };
  const token = (pair: string) => ({ CACHE_TOKEN: `Basic ${Buffer.from(pair).toString('base64')}` });
  const strangers = { remote, env: token('ci:wrong') };
  return { remote, env: token('ci:right'), strangers, looksForFiles: true, stop };
});
