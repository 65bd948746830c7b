import { startCacheServer } from '../support/cache-server.js';
import { contractOf } from './contract.js';

contractOf('a server that lets only the first create an object', async () => {
  const server = await startCacheServer();
  server.isConditional = true;
  return { remote: { url: server.url }, env: {}, canLease: true, stop: () => server.stop() };
});
