import { startCacheServer } from '../support/cache-server.js';
import { contractOf } from './contract.js';

contractOf('a server that stores what is put', async () => {
  const server = await startCacheServer();
  server.misbehave = ({ headers, method }, response) => {
    if (headers.authorization === 'Bearer right') return false;
    if (method === 'PUT') response.writeHead(401).end();
    return method === 'PUT';
  };
  const remote = { url: server.url, token: { env: 'CACHE_TOKEN' } };
  return {
    remote,
    env: { CACHE_TOKEN: 'right' },
    strangers: { remote, env: { CACHE_TOKEN: 'wrong' } },
    stop: () => server.stop(),
  };
});
