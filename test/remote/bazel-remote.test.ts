import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { contractOf } from '../shared/contract.js';
import { isThere, startServer } from './start-server.js';

const start = async () => {
  const { port, stop } = await startServer((onPort, folder) => {
    const password = createHash('sha1').update('right').digest('base64');
    writeFileSync(join(folder, 'passwords'), `ci:{SHA}${password}\n`);
    const where = ['--dir', join(folder, 'cache'), '--http_address', `127.0.0.1:${onPort}`, '--grpc_address', 'none'];
    const how = ['--max_size', '1', '--htpasswd_file', join(folder, 'passwords'), '--access_log_level', 'none'];
    return { argv: ['bazel-remote', ...where, ...how] };
  });
  const remote = { url: `http://127.0.0.1:${port}/team`, token: { env: 'CACHE_TOKEN' } };
  const token = (pair: string) => ({ CACHE_TOKEN: `Basic ${Buffer.from(pair).toString('base64')}` });
  const strangers = { remote, env: token('ci:wrong') };
  return { remote, env: token('ci:right'), strangers, looksForFiles: true as const, stop };
};

// No system has a package of it, so that CI does without: `bazel-rules.ts` stands in for it.
if (isThere('bazel-remote')) contractOf('bazel-remote', start);
else describe.skip('bazel-remote');
